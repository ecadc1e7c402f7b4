"""The settings of a training run: all sections together, and how they are built, stored and checked.

:class:`Settings` are built from defaults, a preset, a file, and ``section.key=value`` overrides; later ones win. All
problems are reported together, one line each. What can be set is in :mod:`masker.config_sections`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError, model_validator

from masker.config_checks import check_sections
from masker.config_sections import (
    SIGMOID_HEADS,
    AuditSettings,
    BaselineSettings,
    DataSettings,
    DetectionSettings,
    Head,
    KeywordSettings,
    LossSettings,
    MaskingSettings,
    ModelSettings,
    Section,
    TrainingSettings,
    checked_confidence,
)
from masker.config_sources import explain_problem, merge_layer, parse_override, read_config_file
from masker.errors import ConfigError, ModelError, did_you_mean
from masker.presets import PRESETS, preset_layer
from masker.registry import METHODS, SCORES

__all__ = [
    "AVERAGED_SHARE",
    "CONVOLUTION_EPOCHS",
    "MASKER_EPOCHS",
    "SIGMOID_HEADS",
    "VANILLA_EPOCHS",
    "AuditSettings",
    "BaselineSettings",
    "DataSettings",
    "DetectionSettings",
    "Head",
    "KeywordSettings",
    "LossSettings",
    "MaskingSettings",
    "ModelSettings",
    "Settings",
    "TrainingSettings",
    "build_settings",
    "checked_confidence",
    "stored_settings",
]

#: Default epochs with ``training.head_start=new``. The paper trains vanilla BERT for 3-4 epochs and MASKER for twice as
#: many; with averaged weights MASKER needs no more than vanilla. Where a head starts from a probe, the number of
#: documents decides instead (:mod:`masker.training.schedule`).
VANILLA_EPOCHS = 3
MASKER_EPOCHS = 6
#: Default share of the last steps whose weights are averaged, for methods that average.
AVERAGED_SHARE = 0.5
#: A convolutional network is trained from scratch, and an epoch costs little.
CONVOLUTION_EPOCHS = 10

#: Settings of earlier versions that model folders may still hold; they are ignored.
_RETIRED = {"training": ("warm_start",)}


class Settings(Section):
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
    def _default_head(cls, values: Any) -> Any:
        """Without a head: multi-class if it starts from a probe, otherwise the first that the method can have."""
        sections = values if isinstance(values, dict) else {}
        training, model = sections.get("training"), sections.get("model", {})
        if isinstance(training, dict) and isinstance(model, dict) and "head" not in model:
            method = training.get("method", "masker")
            if method in METHODS:
                heads = METHODS.get(method).heads
                probed = training.get("head_start", "probe") == "probe" and METHODS.get(method).cross_fits
                return {**values, "model": {**model, "head": "multi-class" if probed else heads[0]}}
        return values

    @model_validator(mode="after")
    def _check_across_sections(self) -> Settings:
        check_sections(self)
        return self

    @property
    def epochs(self) -> int | None:
        """Epochs of the final model; ``None`` if the number of documents decides."""
        if self.training.epochs is not None:
            return self.training.epochs
        if self.is_convolutional:
            return CONVOLUTION_EPOCHS
        if self.starts_from_probe:
            return None
        return MASKER_EPOCHS if self._trains_twice_as_long else VANILLA_EPOCHS

    @property
    def is_convolutional(self) -> bool:
        """Whether the network is DOC's convolution instead of a fine-tuned encoder."""
        return bool(METHODS.get(self.training.method).convolutional(self))

    @property
    def starts_from_probe(self) -> bool:
        """Whether the head of the network starts from a probe, unless that turns out to be weak."""
        method = METHODS.get(self.training.method)
        return self.training.head_start == "probe" and method.cross_fits and method.fine_tuned

    @property
    def vanilla_stage_epochs(self) -> int | None:
        """Epochs of the vanilla model whose attention gives the keywords; ``None`` for a short stage."""
        if self.keywords.attention_epochs is not None:
            return self.keywords.attention_epochs
        if self.starts_from_probe:
            return None
        assert self.epochs is not None
        return (self.epochs + 1) // 2 if self._trains_twice_as_long else self.epochs

    @property
    def averaged_share(self) -> float:
        """Share of the final model's last steps whose weights are averaged."""
        if self.training.averaged_share is not None:
            return self.training.averaged_share
        averaged = METHODS.get(self.training.method).averaged or self.starts_from_probe
        return AVERAGED_SHARE if averaged else 0.0

    @property
    def _trains_twice_as_long(self) -> bool:
        """Whether the method takes twice the epochs of its vanilla stage, as MASKER does in the paper."""
        return METHODS.get(self.training.method).averaged and self.averaged_share == 0


def stored_settings(content: dict[str, dict[str, Any]]) -> Settings:
    """The settings of a model folder: settings that no longer exist are dropped, a score that is not installed is auto.

    Raises:
        ModelError: When the training method is not installed.
    """
    kept = {
        section: {key: value for key, value in values.items() if key not in _RETIRED.get(section, ())}
        for section, values in content.items()
    }
    # Trust in the backbone's code was given by the one who trained the model, not by the one who opens it.
    kept["model"]["trust_remote_code"] = False
    if kept["detection"]["score"] not in SCORES:
        kept["detection"]["score"] = "auto"
    if kept["training"]["method"] not in METHODS:
        raise ModelError(
            f"the model uses the method '{kept['training']['method']}', which is not installed; install the package "
            "that provides it, or retrain the model"
        )
    return Settings.model_validate(kept)


def build_settings(
    *layers: dict[str, dict[str, Any]] | None,
    preset: str | None = None,
    config_file: str | Path | None = None,
    overrides: list[str] | tuple[str, ...] = (),
) -> Settings:
    """Merge preset, file, ``layers`` and ``section.key=value`` overrides into checked settings; later ones win.

    Args:
        layers: Nested ``{section: {key: value}}``; ``None`` values are ignored, so unset options keep their default.
        preset: A name in :data:`masker.presets.PRESETS`.
        config_file: A YAML or JSON file of the same structure.
        overrides: Strings such as ``"loss.lambda_mer=0.01"``; the value is parsed as YAML.

    Raises:
        ConfigError: With one line for every problem.
    """
    given: dict[str, dict[str, Any]] = {}
    if config_file is not None:
        merge_layer(given, read_config_file(Path(config_file), list(Settings.model_fields)))
    for layer in layers:
        merge_layer(given, layer or {})
    for override in overrides:
        merge_layer(given, parse_override(override), unset=True)
    merged: dict[str, dict[str, Any]] = {}
    if preset is not None:
        if preset not in PRESETS:
            raise ConfigError(
                f"preset must be one of {', '.join(PRESETS)}; got '{preset}'.{did_you_mean(preset, PRESETS)}"
            )
        merge_layer(merged, preset_layer(preset, given))
    merge_layer(merged, given, unset=True)
    try:
        return Settings.model_validate(merged)
    except ValidationError as error:
        raise ConfigError(
            "\n".join(explain_problem(problem, Settings.model_fields) for problem in error.errors())
        ) from None
