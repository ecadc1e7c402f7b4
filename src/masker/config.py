"""Every setting and every default, in one place.

A :class:`Settings` object is built from defaults, then a preset, then a file, then ``section.key=value`` overrides;
whoever comes later wins. All problems found are reported together, one line each.
"""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from masker.errors import ConfigError, did_you_mean

Head = Literal["one-vs-rest", "multi-class", "regression"]
Method = Literal["masker", "vanilla", "residual", "openmax", "doc", "ocsvm", "linear"]

#: The heads that a method can have; where 1-vs-rest is not among them, the first is taken when none is named.
METHOD_HEADS: dict[Method, tuple[Head, ...]] = {
    "masker": ("one-vs-rest", "multi-class", "regression"),
    "vanilla": ("one-vs-rest", "multi-class", "regression"),
    "residual": ("one-vs-rest", "multi-class"),
    "openmax": ("multi-class",),
    "doc": ("one-vs-rest",),
    "ocsvm": ("multi-class",),
    "linear": ("multi-class",),
}
#: Methods that train no network: a linear classifier on vectors that are computed once.
LINEAR_METHODS: tuple[Method, ...] = ("ocsvm", "linear")
#: Methods that are trained with keywords.
KEYWORD_METHODS: tuple[Method, ...] = ("masker", "residual")
#: Out-of-distribution scores; see docs/scores.md. ``auto`` joins several, chosen on held-out documents.
ScoreName = Literal[
    "auto", "max-prob", "max-logit", "energy", "entropy",
    "mahalanobis", "mahalanobis-mean", "mahalanobis-layers", "mahalanobis-middle",
    "scaled-mahalanobis", "scaled-mahalanobis-mean", "scaled-mahalanobis-layers", "scaled-mahalanobis-middle",
    "relative-mahalanobis", "relative-mahalanobis-mean", "relative-mahalanobis-layers", "relative-mahalanobis-middle",
    "knn", "knn-mean", "knn-layers", "knn-middle", "knn-frozen", "vim", "vim-mean",
]  # fmt: skip
#: Methods that have a score of their own; the others can have any.
METHODS_WITH_SCORE: tuple[Method, ...] = ("openmax", "doc", "ocsvm", "linear")
#: Methods whose authors give a rule of their own for rejecting a document.
METHODS_WITH_RULE: tuple[Method, ...] = ("doc", "ocsvm")

#: Training as in the paper, where a default of ours differs.
_PAPER: dict[str, dict[str, Any]] = {
    "masking": {"context": "mask"},
    "training": {"warm_start": False, "averaged_share": 0.0},
}
#: The same with the paper's regulariser weights for its two kinds of task (section "Experimental setup").
PRESETS: dict[str, dict[str, dict[str, Any]]] = {
    "ood": {"loss": {"lambda_mkr": 1e-3, "lambda_mer": 1e-3}, **_PAPER},
    "cross-domain": {"loss": {"lambda_mkr": 1e-3, "lambda_mer": 1e-4}, **_PAPER},
}

#: Epochs when the user names none: the paper trains vanilla BERT for 3-4 epochs and MASKER for twice as many. Going on
#: from the vanilla stage, or with averaged weights, MASKER takes as many as vanilla.
VANILLA_EPOCHS = 3
MASKER_EPOCHS = 6
#: Share of the last steps whose weights are averaged when the user names none; MASKER only.
AVERAGED_SHARE = 0.5
#: A convolutional network is trained from scratch, and a pass over the data costs little.
CONVOLUTION_EPOCHS = 10


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class DataSettings(_Section):
    """How rows become documents."""

    text_column: str | None = None
    text_pair_column: str | None = None
    label_column: str | None = None
    encoding: str = "utf-8"
    limit: int | None = Field(default=None, ge=1)
    #: Column -> the values of which a row must have one, such as ``{"genre": ["telephone"]}``.
    where: dict[str, Annotated[list[str], Field(min_length=1)]] | None = None
    skip_invalid: bool = False
    validation_fraction: float = Field(default=0.1, gt=0.0, lt=1.0)
    #: Share of the validation documents that choose neither checkpoint nor score and only calibrate the rejection.
    calibration_share: float = Field(default=0.5, ge=0.0, lt=1.0)


class ModelSettings(_Section):
    """Which encoder, which head, how much of a document it sees."""

    backbone: str = "minilm"
    head: Head = "one-vs-rest"
    max_length: int = Field(default=256, ge=8)
    long_documents: Literal["head", "windows"] = "head"
    window_overlap: float = Field(default=0.25, ge=0.0, lt=1.0)
    window_pooling: Literal["mean", "max"] = "mean"
    trust_remote_code: bool = False


class KeywordSettings(_Section):
    """How the keyword set is chosen. ``source`` is a scheme of the paper or a file of the user's words."""

    source: str = "attention"
    per_class: int = Field(default=10, ge=1)
    count: int | None = Field(default=None, ge=1)
    class_balanced: bool = False
    exclude_stop_words: bool = False
    exclude_punctuation: bool = False
    #: A trained model folder whose attention is read; without it a vanilla stage is trained first.
    attention_model: str | None = None


class MaskingSettings(_Section):
    """The paper's p and q, and what becomes of a masked context word: replaced by the mask token, or left out.

    The paper describes both. Left out is as good or better and costs less; see recipe ``context-form``.
    """

    keyword_mask_prob: float = Field(default=0.5, ge=0.0, le=1.0)
    context_mask_prob: float = Field(default=0.9, ge=0.0, le=1.0)
    context: Literal["mask", "drop"] = "drop"


class LossSettings(_Section):
    """The weights of the total loss and the forms its terms may take."""

    lambda_mkr: float = Field(default=1e-3, ge=0.0)
    lambda_mer: float = Field(default=1e-3, ge=0.0)
    mkr_reduction: Literal["sum", "mean"] = "sum"
    #: What MER asks of f_doc where only keywords are left: all classes alike (the paper), or none of them.
    mer_target: Literal["uniform", "no-class"] = "uniform"
    #: What to do with the keyword-masked view: reconstruct its keywords (the paper) or classify it (an ablation).
    keyword_view: Literal["reconstruct", "augment"] = "reconstruct"
    class_weights: Literal["none", "balanced"] = "none"


class TrainingSettings(_Section):
    """The optimisation."""

    method: Method = "masker"
    epochs: int | None = Field(default=None, ge=1)
    #: The final model's weights are their mean over this last share of its steps, and the learning rate stays as it is;
    #: with 0 the rate falls and the best checkpoint is taken. See docs/quality.md.
    averaged_share: float | None = Field(default=None, ge=0.0, le=1.0)
    #: Whether MASKER goes on from the vanilla stage instead of starting from the encoder.
    warm_start: bool = False
    #: Documents of one batch over all processes together: how many processes train changes the speed, not the result.
    batch_size: int = Field(default=16, ge=1)
    gradient_accumulation: int = Field(default=1, ge=1)
    learning_rate: float = Field(default=5e-5, gt=0.0)
    embedding_lr_scale: float = Field(default=0.5, ge=0.0)
    #: New heads start from nothing: at 5e-5 for the encoder they learn at 1e-3, Adam's usual rate for a new layer.
    head_lr_scale: float = Field(default=20.0, ge=0.0)
    weight_decay: float = Field(default=0.0, ge=0.0)
    warmup_fraction: float = Field(default=0.1, ge=0.0, le=1.0)
    max_grad_norm: float = Field(default=1.0, ge=0.0)
    precision: Literal["auto", "bf16", "fp32"] = "auto"
    seed: int = Field(default=0, ge=0, lt=2**32)
    logging_steps: int = Field(default=10, ge=1)
    report_to: list[str] = Field(default_factory=list)


class DetectionSettings(_Section):
    """When a document counts as out-of-distribution."""

    score: ScoreName = "auto"
    #: Training documents that statistics keep for nearest neighbours; classes get equal parts.
    bank: int = Field(default=2000, ge=1)
    neighbours: int = Field(default=1, ge=1)
    #: Held-out documents that choose a score or set a threshold, at most: more make it no surer, and take memory.
    held_out: int = Field(default=10_000, ge=1)
    #: Whether confidence is scaled by a temperature that held-out documents give.
    calibrate_confidence: bool = True
    false_alarm_rate: float = Field(default=0.05, ge=0.0, le=1.0)
    #: The threshold is set for ``false_alarm_rate``, or by the rule that the method was published with.
    rule: Literal["false-alarm-rate", "published"] = "false-alarm-rate"
    #: One threshold for each predicted class that has enough held-out documents, instead of one for all.
    class_conditional: bool = False


class BaselineSettings(_Section):
    """The comparison systems that are more than a loss; see docs/systems.md."""

    #: The network under OpenMax: the fine-tuned encoder, or the convolutional network of DOC.
    openmax_network: Literal["encoder", "convolution"] = "encoder"
    openmax_tail: int = Field(default=20, ge=2)
    openmax_alpha: int = Field(default=10, ge=1)
    openmax_distance: Literal["euclidean", "euclidean-cosine"] = "euclidean"
    doc_filters: int = Field(default=100, ge=1)
    doc_hidden: int = Field(default=250, ge=1)
    doc_dropout: float = Field(default=0.5, ge=0.0, lt=1.0)
    doc_alpha: float = Field(default=3.0, ge=0.0)
    ocsvm_features: Literal["tf-idf", "encoder"] = "tf-idf"
    #: The exact solver takes time and memory quadratic in documents; ``auto`` leaves it above ``ocsvm_exact_limit``.
    ocsvm_solver: Literal["auto", "exact", "sgd"] = "auto"
    ocsvm_exact_limit: int = Field(default=10_000, ge=1)
    ocsvm_nu: float = Field(default=0.1, gt=0.0, le=1.0)
    #: Feature vectors have length 1, so their squared distances lie between 0 and 4.
    ocsvm_gamma: float = Field(default=1.0, gt=0.0)
    #: Nystroem landmarks of the sgd solver.
    ocsvm_components: int = Field(default=500, ge=1)


class AuditSettings(_Section):
    """How a classifier is audited. No part of :class:`Settings`: an audit trains nothing."""

    #: ``occlusion``, ``attention``, ``frequency``, or a file of words or a model folder whose keywords are taken.
    keywords: str = "occlusion"
    per_class: int = Field(default=10, ge=1)
    #: Documents drawn from the data; half of them give the keywords, the other half is measured.
    documents: int = Field(default=1000, ge=2)
    #: Whether a masked word is replaced by the mask token or left out.
    masking: Literal["mask", "drop"] = "drop"
    #: The shares of the keywords that are masked one after the other.
    shares: tuple[Annotated[float, Field(gt=0.0, le=1.0)], ...] = (0.25, 0.5, 0.75, 1.0)
    #: Words of a class that occlusion tries, for each keyword that is wanted.
    candidates_per_keyword: int = Field(default=5, ge=1)
    #: Documents that must have a word before it may become a keyword.
    minimum_documents: int = Field(default=2, ge=1)
    examples_per_class: int = Field(default=3, ge=0)
    resamples: int = Field(default=1000, ge=1)
    seed: int = Field(default=0, ge=0, lt=2**32)


class Settings(_Section):
    """All settings of one training run."""

    data: DataSettings = Field(default_factory=DataSettings)
    model: ModelSettings = Field(default_factory=ModelSettings)
    keywords: KeywordSettings = Field(default_factory=KeywordSettings)
    masking: MaskingSettings = Field(default_factory=MaskingSettings)
    loss: LossSettings = Field(default_factory=LossSettings)
    training: TrainingSettings = Field(default_factory=TrainingSettings)
    detection: DetectionSettings = Field(default_factory=DetectionSettings)
    baselines: BaselineSettings = Field(default_factory=BaselineSettings)

    @model_validator(mode="before")
    @classmethod
    def _head_of_the_method(cls, values: Any) -> Any:
        """A method that has no 1-vs-rest head gets its own when none is named."""
        sections = values if isinstance(values, dict) else {}
        training, model = sections.get("training"), sections.get("model", {})
        if isinstance(training, dict) and isinstance(model, dict) and "head" not in model:
            for method, heads in METHOD_HEADS.items():
                if training.get("method") == method and "one-vs-rest" not in heads:
                    return {**values, "model": {**model, "head": heads[0]}}
        return values

    @model_validator(mode="after")
    def _check_across_sections(self) -> Settings:
        if self.keywords.source == "random" and self.keywords.class_balanced:
            raise ValueError("keywords.class_balanced has no meaning for keywords.source=random; drop one of the two")
        method, heads = self.training.method, METHOD_HEADS[self.training.method]
        if self.model.head not in heads:
            raise ValueError(
                f"model.head must be {' or '.join(heads)} for training.method={method}; got '{self.model.head}'"
            )
        if self.detection.score != "auto" and method in METHODS_WITH_SCORE:
            raise ValueError(
                f"training.method={method} has a score of its own; got detection.score={self.detection.score}, "
                "so leave it out"
            )
        if self.loss.mer_target == "no-class" and self.model.head == "multi-class":
            raise ValueError(
                "loss.mer_target=no-class needs model.head=one-vs-rest: a softmax always names a class; "
                "use mer_target=uniform"
            )
        if self.detection.rule == "published" and method not in METHODS_WITH_RULE:
            raise ValueError(
                f"detection.rule=published needs a method with such a rule ({', '.join(METHODS_WITH_RULE)}); "
                f"got training.method={method}, so leave detection.rule out"
            )
        return self

    @property
    def epochs(self) -> int:
        """Epochs of the final model."""
        if self.training.epochs is not None:
            return self.training.epochs
        if self.is_convolutional:
            return CONVOLUTION_EPOCHS
        return MASKER_EPOCHS if self._takes_twice else VANILLA_EPOCHS

    @property
    def is_convolutional(self) -> bool:
        """Whether the network is DOC's convolutional one instead of a fine-tuned encoder."""
        method = self.training.method
        return method == "doc" or (method == "openmax" and self.baselines.openmax_network == "convolution")

    @property
    def vanilla_stage_epochs(self) -> int:
        """Epochs of the vanilla model that gives attention keywords."""
        return (self.epochs + 1) // 2 if self._takes_twice else self.epochs

    @property
    def averaged_share(self) -> float:
        """Share of the last steps of the final model whose weights are averaged."""
        if self.training.averaged_share is not None:
            return self.training.averaged_share
        return AVERAGED_SHARE if self.training.method == "masker" else 0.0

    @property
    def _takes_twice(self) -> bool:
        """Whether MASKER is trained for twice as many epochs as its vanilla stage, as in the paper."""
        training = self.training
        return training.method == "masker" and not training.warm_start and self.averaged_share == 0


def build_settings(
    *layers: dict[str, dict[str, Any]] | None,
    preset: str | None = None,
    config_file: str | Path | None = None,
    overrides: list[str] | tuple[str, ...] = (),
) -> Settings:
    """Join preset, file, ``layers`` and ``section.key=value`` overrides (later wins) into checked settings.

    Args:
        layers: Nested ``{section: {key: value}}``; ``None`` values are ignored, so unset options keep the default.
        preset: A name in :data:`PRESETS`.
        config_file: A YAML or JSON file of the same nested form.
        overrides: Strings such as ``"loss.lambda_mer=0.01"``; the right side is read as YAML.

    Raises:
        ConfigError: With one line for every problem found.
    """
    merged: dict[str, dict[str, Any]] = {}
    if preset is not None:
        if preset not in PRESETS:
            raise ConfigError(
                f"preset must be one of {', '.join(PRESETS)}; got '{preset}'.{did_you_mean(preset, PRESETS)}"
            )
        _merge(merged, PRESETS[preset])
    if config_file is not None:
        _merge(merged, _read_config_file(Path(config_file)))
    for layer in layers:
        _merge(merged, layer or {})
    for override in overrides:
        _merge(merged, _parse_override(override), unset=True)
    try:
        return Settings.model_validate(merged)
    except ValidationError as error:
        raise ConfigError("\n".join(_explain(problem) for problem in error.errors())) from None


def _merge(into: dict[str, dict[str, Any]], new: dict[str, dict[str, Any]], *, unset: bool = False) -> None:
    for section, keys in new.items():
        if not isinstance(keys, dict):
            raise ConfigError(f"section '{section}' must hold keys and values; got {keys!r}")
        into.setdefault(section, {}).update({key: value for key, value in keys.items() if value is not None or unset})


def _read_config_file(path: Path) -> dict[str, dict[str, Any]]:
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ConfigError(f"config file '{path}' does not exist; give the path of a YAML or JSON file") from None
    except OSError as error:
        raise ConfigError(f"config file '{path}' cannot be read: {error.strerror}; give a YAML or JSON file") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigError(f"config file '{path}' is not YAML or JSON: {' '.join(str(error).split())}") from None
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise ConfigError(f"config file '{path}' must hold sections ({', '.join(Settings.model_fields)})")
    return content


def _parse_override(override: str) -> dict[str, dict[str, Any]]:
    name, equals, raw = override.partition("=")
    section, dot, key = name.strip().partition(".")
    if not equals or not dot or not key:
        raise ConfigError(f"--set takes section.key=value, for example loss.lambda_mer=0.01; got '{override}'")
    try:
        value = yaml.safe_load(raw)
    except yaml.YAMLError:
        value = raw
    # YAML 1.1 reads 1e-3 as a string; JSON does not.
    if isinstance(value, str):
        with suppress(ValueError):
            value = json.loads(value)
    return {section: {key: value}}


def _explain(problem: Any) -> str:
    """One line: parameter, what is allowed, what was received."""
    location = [str(part) for part in problem["loc"]]
    name = ".".join(location)
    if problem["type"] == "extra_forbidden":
        fields = Settings.model_fields
        if len(location) == 1:
            return f"unknown section '{name}'; known: {', '.join(fields)}.{did_you_mean(name, fields)}"
        section = fields[location[0]].annotation
        known = list(getattr(section, "model_fields", {}))
        return f"unknown setting '{name}'; known: {', '.join(known)}.{did_you_mean(location[-1], known)}"
    message = str(problem["msg"]).removeprefix("Value error, ")
    if not name:
        return message
    return f"{name}: {message[0].lower()}{message[1:]}; got {problem['input']!r}"
