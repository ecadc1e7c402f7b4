"""From a data source to a model folder, once, with nothing left over."""

from __future__ import annotations

import json

import numpy as np
import pytest

from masker import ConfigError, DataError, Model
from masker.commands import train as module
from masker.commands.train import OodExamples, read_other_texts, read_training_documents, train, training_plan
from masker.config import DataSettings, build_settings
from masker.evidence import open_examples
from tests.cli.command_line import write_jsonl
from tests.conftest import make_corpus


@pytest.fixture
def settings(tiny_settings):
    def build(**sections):
        training = {"method": "vanilla", "epochs": 1, **sections.pop("training", {})}
        return tiny_settings(training=training, detection={"score": "max-prob"}, **sections)

    return build


@pytest.fixture
def data(tmp_path):
    texts, labels = make_corpus(45)
    return str(write_jsonl(tmp_path / "data.jsonl", [*texts, " "], [*labels, "food"]))


def test_the_summary_and_what_is_left(settings, data, tmp_path):
    summary = train(data, tmp_path / "model", settings(data={"skip_invalid": True}), device="cpu")
    assert (summary.documents, summary.skipped, summary.trade_off) == (45, 1, None)
    assert summary.folder == tmp_path / "model" and summary.seconds > 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data.jsonl", "model"]
    opened = Model.open(summary.folder, device="cpu")
    assert opened.predict(["rocket soup"]) == summary.model.predict(["rocket soup"])
    assert opened.provenance["data"] == data and opened.provenance["rows"] == 45
    assert open_examples(summary.folder) is None, "no text is kept unless asked for"


def test_examples_set_the_operating_point(settings, data, tmp_path):
    strange = write_jsonl(tmp_path / "strange.jsonl", [f"zzz qqq {n}" for n in range(10)])
    examples = OodExamples(str(strange), highest=0.3)
    chosen = settings(data={"skip_invalid": True, "limit": 40, "validation_fraction": 0.4})
    summary = train(data, tmp_path / "model", chosen, examples=examples, device="cpu", keep_examples=6)
    (row,) = [row for row in summary.trade_off if row["chosen"]]
    stored = json.loads((tmp_path / "model" / "masker.json").read_text())["detection"]
    assert stored["false_alarm_rate"] == row["false_alarm_rate"] <= 0.3
    assert summary.documents == 40, "--limit is for the training data"
    kept = open_examples(summary.folder)
    assert len(kept.texts) == 6 and sorted(set(kept.labels)) == summary.model.labels


def test_decisions_are_planned_and_kept(settings, data, tmp_path, monkeypatch):
    """The plan is what training then decides, and it trains and writes nothing."""
    valid = settings(data={"skip_invalid": True}, training={"epochs": None})
    with monkeypatch.context() as patch:
        patch.setattr(module.Model, "fit", lambda *args, **options: pytest.fail("trained"))
        planned = training_plan(data, valid)
    assert list(planned) == ["documents", "pooling", "training", "held out", "rejection"]
    assert planned["documents"].startswith("45 with ") and "3 classes of 15 to 15" in planned["documents"]
    assert "cross-fitted in 5 folds" in planned["held out"]
    assert [path.name for path in tmp_path.iterdir()] == ["data.jsonl"]
    kept = train(data, tmp_path / "model", valid, device="cpu").model.provenance["decisions"]
    assert {subject: text for subject, text in kept.items() if subject != "kept"} == planned
    assert Model.open(tmp_path / "model", device="cpu").provenance["decisions"] == kept


def test_refused_before_any_training(settings, data, tmp_path, monkeypatch):
    monkeypatch.setattr(module.Model, "fit", lambda *args, **options: pytest.fail("trained"))
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "thesis.txt").write_text("mine")
    with pytest.raises(ConfigError, match="already exists"):
        train(data, tmp_path / "model", settings())
    valid = settings(data={"skip_invalid": True})
    linear = valid.model_copy(update={"training": valid.training.model_copy(update={"method": "linear"})})
    with pytest.raises(ConfigError, match="method linear has no network"):
        train(data, tmp_path / "m", linear, keep_examples=5)
    pairs = OodExamples(str(write_jsonl(tmp_path / "pairs.jsonl", ["a"], None, ["b"])))
    with pytest.raises(DataError, match="--ood-examples must hold texts, as the training data do; got pairs of texts"):
        train(data, tmp_path / "m", valid, examples=pairs)
    scores = str(write_jsonl(tmp_path / "scores.jsonl", ["a", "b", "c"], [0.1, 0.2, 0.3], ["d", "e", "f"]))
    with pytest.raises(ConfigError, match="leave --ood-examples out"):
        train(scores, tmp_path / "m", settings(model={"head": "regression"}), examples=pairs)
    single = OodExamples(str(write_jsonl(tmp_path / "single.jsonl", ["a"])))
    both = write_jsonl(tmp_path / "both.jsonl", ["a", "b", "c", "d"], ["x", "y", "x", "y"], ["e"] * 4)
    with pytest.raises(DataError, match="--ood-examples must hold pairs of texts, as the training data do; got texts"):
        train(str(both), tmp_path / "m", settings(), examples=single)


def test_examples_need_held_out_documents(settings, data, tmp_path, monkeypatch):
    monkeypatch.setattr(module.Model, "fit", lambda *args, **options: pytest.fail("trained"))
    examples = OodExamples(str(write_jsonl(tmp_path / "ood.jsonl", ["a"])))
    valid = settings(data={"skip_invalid": True, "validation_fraction": 0.0})
    with pytest.raises(ConfigError, match="holds no document out to set a rate on; leave them out"):
        train(data, tmp_path / "m", valid, examples=examples)


@pytest.mark.parametrize("method", ["masker", "residual", "ocsvm"])
def test_a_preset_trains_on_all_documents_and_is_calibrated_afterwards(data, tmp_path, tiny_backbones, method):
    sections = {
        "model": {"backbone": tiny_backbones["bert"], "max_length": 24},
        "training": {"method": method, "epochs": 2, "precision": "fp32"},
        "keywords": {"per_class": 3},
        "data": {"skip_invalid": True},
    }
    valid = build_settings(sections, preset="ood")
    model = train(data, tmp_path / "model", valid, device="cpu").model
    assert model.validation == {} and model.provenance["decisions"]["held out"].startswith("none: all documents train")
    opened = Model.open(tmp_path / "model", device="cpu")
    texts, labels = make_corpus(30, seed=3)
    judged = opened.judge(texts)
    assert not judged.rejected.any() and (judged.p_values == 1.0).all()
    np.testing.assert_allclose(judged.scores, model.judge(texts).scores, rtol=1e-5)
    manifest = (tmp_path / "model" / "masker.json").read_text()
    assert "Infinity" not in manifest and '"threshold": null' in manifest
    calibrated = opened.calibrate(texts, labels, false_alarm_rate=0.1)
    assert 0 < calibrated.judge(texts).rejected.sum() <= 3 and calibrated.require_detector().calibration.promised == 0.1


def test_an_interruption_keeps_the_work(settings, data, tmp_path, monkeypatch):
    """Whatever ends the training, what was done stays beside the output."""
    valid = settings(data={"skip_invalid": True})
    save = Model.save

    def fail(*args, **options):
        raise OSError("disk full")

    monkeypatch.setattr(Model, "save", fail)
    with pytest.raises(OSError, match="disk full"):
        train(data, tmp_path / "model", valid, device="cpu")
    result = tmp_path / "model.partial" / "fold-5" / "vanilla" / "result.safetensors"
    assert result.is_file() and not (tmp_path / "model").exists()
    monkeypatch.setattr(Model, "save", save)
    before = result.stat().st_mtime_ns
    monkeypatch.setattr(module, "remove_work_folder", lambda work: None)
    train(data, tmp_path / "model", valid, device="cpu")
    assert result.stat().st_mtime_ns == before, "the stage was not trained again"


def test_labels_are_read_for_the_head(settings, tmp_path):
    numbers = str(write_jsonl(tmp_path / "n.jsonl", ["a", "b", "c", "d"], [1, 2, 1, 2]))
    assert read_training_documents(numbers, settings()).labels == ["1", "2", "1", "2"]
    assert read_training_documents(numbers, settings(model={"head": "regression"})).labels == [1.0, 2.0, 1.0, 2.0]
    one = str(write_jsonl(tmp_path / "one.jsonl", ["a", "b"], ["x", "x"]))
    with pytest.raises(DataError):
        read_training_documents(one, settings())


def test_the_first_process_reads_for_all(settings, data, monkeypatch):
    sent = []

    def first_only(work):
        sent.append(json.loads(json.dumps(work())))  # it must survive the journey
        return sent[-1]

    monkeypatch.setattr(module.distributed, "world_size", lambda: 2)
    monkeypatch.setattr(module.distributed, "first_only", first_only)
    valid = settings(data={"skip_invalid": True})
    found = read_training_documents(data, valid)
    monkeypatch.undo()
    assert len(sent) == 1 and found == read_training_documents(data, valid)


def test_a_second_source_ignores_the_filters_of_the_first(tmp_path):
    path = tmp_path / "other.jsonl"
    path.write_text('{"text": "a", "genre": "x"}\n{"text": "b", "genre": "y"}\n')
    assert read_other_texts(str(path), DataSettings(where={"genre": ["x"]}, limit=1)) == ["a", "b"]
