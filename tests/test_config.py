"""Settings: the paper's numbers, who overrides whom, and errors that say what to do."""

import json

import pytest
from pydantic import ValidationError

from masker.config import (
    AVERAGED_SHARE,
    CONVOLUTION_EPOCHS,
    MASKER_EPOCHS,
    VANILLA_EPOCHS,
    Settings,
    build_settings,
    stored_settings,
)
from masker.errors import ConfigError, MaskerError, ModelError, did_you_mean
from masker.presets import PRESETS


def problems(**arguments):
    layers = arguments.pop("layers", ())
    with pytest.raises(ConfigError) as caught:
        build_settings(*layers, **arguments)
    return str(caught.value).splitlines()


# --- defaults --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("preset", "mer"), [("ood", 1e-3), ("cross-domain", 1e-4)])
def test_presets_are_the_papers_numbers(preset, mer):
    settings = build_settings(preset=preset)
    assert (settings.loss.lambda_mkr, settings.loss.lambda_mer) == (1e-3, mer)
    assert (settings.masking.context, settings.masking.view_share) == ("mask", 1.0)
    assert (settings.model.head, settings.model.pooling) == ("one-vs-rest", "document-token")
    training = settings.training
    assert (training.batch_size, training.learning_rate, training.embedding_lr_scale) == (16, 5e-5, 0.5)
    assert (training.head_start, training.frozen_layers, settings.averaged_share) == ("new", 0, 0.0)
    assert settings.detection.calibration == "split"


def test_the_keyword_stage_may_have_epochs_of_its_own():
    own = {"keywords": {"attention_epochs": 7}}
    assert build_settings(own).vanilla_stage_epochs == build_settings(own, preset="ood").vanilla_stage_epochs == 7


NEW = {"training": {"head_start": "new"}}


def test_epochs_of_a_new_head_follow_the_method_unless_named():
    assert build_settings(NEW).epochs == build_settings(NEW).vanilla_stage_epochs == VANILLA_EPOCHS
    assert build_settings(preset="ood").epochs == MASKER_EPOCHS == 2 * VANILLA_EPOCHS
    assert build_settings(NEW, {"training": {"method": "vanilla"}}).epochs == VANILLA_EPOCHS
    assert build_settings(NEW, {"training": {"method": "vanilla", "epochs": 5}}).epochs == 5


def test_documents_decide_how_long_a_head_from_a_probe_trains():
    assert build_settings().epochs is None and build_settings().vanilla_stage_epochs is None
    named = build_settings({"training": {"epochs": 5}})
    assert named.epochs == 5 and named.vanilla_stage_epochs is None, "the keyword stage stays short"


@pytest.mark.parametrize(("epochs", "stage"), [(6, 3), (5, 3), (1, 1), (2, 1)])
def test_vanilla_stage_has_half_the_epochs(epochs, stage):
    settings = {"training": {"epochs": epochs}}
    assert build_settings(settings, preset="ood").vanilla_stage_epochs == stage
    assert build_settings(NEW, settings).vanilla_stage_epochs == epochs, "averaged weights need no longer training"


def test_weights_are_averaged_from_a_probe_and_for_masker_unless_named():
    assert build_settings().averaged_share == build_settings(NEW).averaged_share == AVERAGED_SHARE > 0
    assert build_settings(preset="ood").averaged_share == 0
    vanilla = {"training": {"method": "vanilla"}}
    assert build_settings(vanilla).averaged_share == AVERAGED_SHARE
    assert build_settings(NEW, vanilla).averaged_share == 0
    assert build_settings(NEW, {"training": {"method": "vanilla", "averaged_share": 0.25}}).averaged_share == 0.25
    assert build_settings({"training": {"method": "doc"}}).averaged_share == 0, "a convolution has no probe"


def test_other_methods_with_a_keyword_stage_train_it_as_long_as_themselves():
    settings = build_settings(NEW, {"training": {"method": "residual"}})
    assert settings.epochs == settings.vanilla_stage_epochs == VANILLA_EPOCHS


def test_convolutional_networks_train_longer():
    assert build_settings({"training": {"method": "doc"}}).epochs == CONVOLUTION_EPOCHS
    openmax = {"training": {"method": "openmax"}}
    assert build_settings(NEW, openmax).epochs == build_settings(openmax).epochs == VANILLA_EPOCHS
    convolution = build_settings(openmax, {"baselines": {"openmax_network": "convolution"}})
    assert convolution.epochs == CONVOLUTION_EPOCHS and not convolution.starts_from_probe


@pytest.mark.parametrize(
    ("method", "head", "new"),
    [("masker", "multi-class", "one-vs-rest"), ("vanilla", "multi-class", "one-vs-rest"),
     ("residual", "one-vs-rest", "one-vs-rest"), ("openmax", "multi-class", "multi-class"),
     ("doc", "one-vs-rest", "one-vs-rest"), ("ocsvm", "multi-class", "multi-class")],
)  # fmt: skip
def test_head_follows_the_start_and_the_method_unless_named(method, head, new):
    assert build_settings({"training": {"method": method}}).model.head == head
    assert build_settings(NEW, {"training": {"method": method}}).model.head == new
    if method == "vanilla":
        named = build_settings({"training": {"method": method}, "model": {"head": "regression"}})
        assert named.model.head == "regression"


def test_a_default_head_is_that_of_a_probe():
    assert build_settings().model.head == build_settings({"model": {"max_length": 64}}).model.head == "multi-class"


def test_head_that_a_method_cannot_have():
    for method, head in (("openmax", "one-vs-rest"), ("doc", "multi-class"), ("residual", "regression")):
        (line,) = problems(layers=[{"training": {"method": method}, "model": {"head": head}}])
        assert line.startswith("model.head must be ") and f"training.method={method}; got '{head}'" in line


def test_published_rule_needs_a_method_that_has_one():
    rule = {"detection": {"rule": "published"}}
    assert build_settings(rule, {"training": {"method": "doc"}}).detection.rule == "published"
    (line,) = problems(layers=[rule])
    assert "doc, ocsvm" in line and "training.method=masker" in line


@pytest.mark.parametrize("content", [3, {"training": 3}, {"training": {"method": ["doc"]}}, {"model": 3}])
def test_nonsense_is_a_validation_error(content):
    with pytest.raises(ValidationError):
        Settings.model_validate(content)


def test_settings_round_trip_through_json():
    settings = build_settings(preset="cross-domain", overrides=["training.report_to=[tensorboard]"])
    assert Settings.model_validate(json.loads(settings.model_dump_json())) == settings


# --- precedence ------------------------------------------------------------------------------------------------------


def test_preset_file_layers_overrides_in_this_order(tmp_path):
    """Four keys, each also set by every source of lower rank."""
    file = tmp_path / "run.yaml"
    file.write_text("loss: {lambda_mer: 0.2, mkr_reduction: mean}\ntraining: {seed: 2, batch_size: 2, epochs: 2}\n")
    first = {"training": {"seed": 3, "batch_size": 3}, "loss": {"mkr_reduction": "sum"}}
    second = {"training": {"batch_size": 4}}
    settings = build_settings(
        first, second, preset="cross-domain", config_file=file, overrides=["training.batch_size=5", "training.seed=6"]
    )
    assert settings.loss.lambda_mkr == 1e-3  # preset
    assert settings.loss.lambda_mer == 0.2  # file over preset
    assert settings.training.epochs == 2  # file
    assert settings.loss.mkr_reduction == "sum"  # layer over file
    assert build_settings(first, second).training.batch_size == 4  # later layer over earlier
    assert (settings.training.batch_size, settings.training.seed) == (5, 6)  # override over layer


def test_later_override_wins():
    assert build_settings(overrides=["training.seed=1", "training.seed=2"]).training.seed == 2


def test_none_in_a_layer_keeps_what_was_there(tmp_path):
    file = tmp_path / "run.yaml"
    file.write_text("training: {seed: 2}")
    layer = {"training": {"seed": None, "epochs": None}, "model": {"backbone": None}}
    settings = build_settings(layer, None, config_file=file)
    assert settings.training.seed == 2
    assert settings.model.backbone == "minilm"


def test_building_changes_neither_presets_nor_layers():
    presets, layer = json.dumps(PRESETS), {"loss": {"lambda_mkr": 0.5}}
    build_settings(layer, {"loss": {"lambda_mer": 0.7}}, preset="ood", overrides=["loss.lambda_mer=0.9"])
    assert json.dumps(PRESETS) == presets
    assert layer == {"loss": {"lambda_mkr": 0.5}}


# --- errors ----------------------------------------------------------------------------------------------------------


def test_several_errors_are_reported_together():
    lines = problems(
        layers=({"masking": {"keyword_mask_prob": 1.5}, "training": {"epohcs": 3}, "los": {"a": 1}},),
        overrides=["model.max_length=2"],
    )
    assert len(lines) == 4
    for name in ("masking.keyword_mask_prob", "training.epohcs", "'los'", "model.max_length"):
        assert sum(name in line for line in lines) == 1, name


def test_unknown_setting_is_explained():
    (line,) = problems(overrides=["loss.lamda_mer=1"])
    assert "unknown setting 'loss.lamda_mer'" in line
    assert "lambda_mkr" in line
    assert line.endswith("Did you mean 'lambda_mer'?")


def test_unknown_section_is_explained():
    (line,) = problems(overrides=["trainning.seed=1"])
    assert "unknown section 'trainning'" in line
    assert "detection" in line
    assert line.endswith("Did you mean 'training'?")


def test_unknown_preset():
    (line,) = problems(preset="crossdomain")
    assert "ood, cross-domain" in line
    assert line.endswith("Did you mean 'cross-domain'?")


def test_contradiction_across_sections():
    (line,) = problems(overrides=["keywords.source=random", "keywords.class_balanced=true"])
    assert "keywords.class_balanced" in line
    assert "keywords.source=random" in line


def test_did_you_mean():
    assert did_you_mean("frequncy", ["attention", "frequency"]) == " Did you mean 'frequency'?"
    assert did_you_mean("xyz", ["attention", "frequency"]) == ""
    assert issubclass(ConfigError, MaskerError)


# --- settings of model folders ---------------------------------------------------------------------------------------


def stored(**changes):
    content = build_settings().model_dump()
    for section, values in changes.items():
        content[section].update(values)
    return content


def test_stored_settings_drop_what_no_longer_exists():
    assert stored_settings(stored()) == build_settings()
    assert stored_settings(stored(training={"warm_start": True})) == build_settings()
    assert stored_settings(stored(detection={"score": "vim"})).detection.score == "auto"
    with pytest.raises(ValidationError):
        stored_settings(stored(training={"never_was": 1}))


def test_a_stored_method_must_be_installed():
    with pytest.raises(ModelError, match="uses the method 'magic', which is not installed; install the package"):
        stored_settings(stored(training={"method": "magic"}))
