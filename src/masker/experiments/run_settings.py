"""The settings of one run of a recipe, and the form in which a stage stores them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from masker.config import Settings, build_settings
from masker.config_sources import merge_layer
from masker.errors import ConfigError
from masker.experiments.grid_search import SEARCHED
from masker.experiments.paper_settings import Sections, paper_optimization, paper_settings, without_paper_settings
from masker.experiments.recipe import Recipe
from masker.experiments.recipe_parts import Encoder, Scale
from masker.files import file_sha256, folder_sha256
from masker.modeling.embedded import EMBEDDED
from masker.registry import METHODS

#: Settings that distinguish runs, and the option to use instead.
_OWN_OPTIONS = {
    "model.backbone": "--backbone",
    "training.seed": "--seeds",
    "training.method": "--only system=NAME, or your own recipe file,",
}


@dataclass(frozen=True)
class RunCoordinates:
    """What distinguishes one run of a recipe from the others."""

    source: str
    system: str
    column: str  # the paper's; empty for a system without an encoder
    encoder: Encoder
    seed: int

    @property
    def place(self) -> str:
        """Where the system is trained, for titles."""
        encoder = [Path(self.encoder.model).name] if self.column else []
        return " · ".join((self.source, *encoder, f"seed {self.seed}"))


def run_settings(recipe: Recipe, scale: Scale, run: RunCoordinates, overrides: Sequence[str] = ()) -> Settings:
    """The settings of one run: where it starts, then recipe, scale, encoder, source, system, overrides, seed.

    It starts from the paper's settings and the recipe's preset, or from the package's defaults.
    """
    source, system = recipe.sources[run.source], recipe.systems[run.system]
    given: Sections = {}
    for level in (recipe.settings, scale.settings, run.encoder.settings, source.settings, system.settings):
        merge_layer(given, level)
    training = given.get("training", {})
    method = str(training.get("method", "masker"))
    from_paper = system.start == "paper"
    epochs = run.encoder.epochs.get(run.system, run.encoder.epochs.get(method) if from_paper else None)
    # The model that gives the keywords is a vanilla one; a system with epochs of its own has half of these.
    keyword_epochs = None
    if from_paper and "epochs" not in training and method in METHODS and METHODS.get(method).keywords:
        keyword_epochs = run.encoder.epochs.get("vanilla")
    return build_settings(
        paper_optimization(given) if from_paper else None,
        paper_settings(method) if from_paper else None,
        recipe.settings,
        scale.settings,
        run.encoder.settings,
        {"model": {"backbone": run.encoder.model}, "training": {"epochs": epochs}},
        {"keywords": {"attention_epochs": keyword_epochs}},
        source.settings,
        system.settings,
        preset=recipe.preset if from_paper else None,
        overrides=[*overrides, f"training.seed={run.seed}"],
    )


def vanilla_settings(settings: Settings, epochs: int | None) -> Settings:
    """Vanilla fine-tuning with the same model, data and seed.

    Whatever vanilla training does not use is as in the paper, so that neither another recipe nor a new default makes it
    a different stage.
    """
    return build_settings(
        {
            "data": settings.data.model_dump(include={"validation_fraction", "calibration_share"}),
            "model": settings.model.model_dump(),
            "masking": {"view_share": settings.masking.view_share},
            "loss": settings.loss.model_dump(include={"class_weights", "lambda_attention"}),
            "training": {
                **settings.training.model_dump(),
                "averaged_share": settings.averaged_share if settings.training.method == "vanilla" else 0.0,
                "method": "vanilla",
                "epochs": epochs,
            },
            "detection": settings.detection.model_dump(exclude={"rule"}),
        },
        preset="ood",
    )


def check_overrides(overrides: Sequence[str], *, grid: bool = False) -> None:
    """Refuse to override what distinguishes runs: set for every run, it would leave them under false names.

    Nor can what ``--grid`` chooses be set.
    """
    for override in overrides:
        name = override.partition("=")[0].strip()
        if name in _OWN_OPTIONS:
            raise ConfigError(f"--set {override}: runs differ in it; use {_OWN_OPTIONS[name]} instead")
        if grid and name in (f"training.{searched}" for searched in SEARCHED):
            raise ConfigError(f"--set {override}: --grid chooses it; leave one of the two out")


def stage_settings(settings: Settings, epochs: int | None = None) -> dict[str, Any]:
    """Settings as inputs of a stage: what differs from the paper, and fingerprints of the files that they name.

    A stage that trains writes out its epochs: a default may change, a result may not.
    """
    content = without_paper_settings(settings.model_dump(mode="json"))
    if epochs is not None:
        content["training"]["epochs"] = epochs
    contents = _fingerprints(settings)
    return {"settings": content, **({"contents": contents} if contents else {})}


def without_searched(inputs: dict[str, Any]) -> dict[str, Any]:
    """Inputs of a stage without the settings that a search chooses."""
    settings = inputs["settings"]
    training = {name: value for name, value in settings["training"].items() if name not in SEARCHED}
    return {**inputs, "settings": {**settings, "training": training}}


def user_stage_settings(settings: Settings) -> dict[str, Any]:
    """Settings as inputs of a stage that trains as a user would: in full, and nothing decided that they leave open.

    What they leave open today stands beside them, so that another default is another stage. What only a multi-label
    head reads is not named for others, which ran before there was one.
    """
    decided = {"epochs": settings.epochs, "averaged_share": settings.averaged_share}
    contents = _fingerprints(settings)
    unread = None if settings.model.head == "multi-label" else {"detection": {"missed_rate"}}
    inputs = {"settings": settings.model_dump(mode="json", exclude=unread), "decided": decided}
    return {**inputs, **({"contents": contents} if contents else {})}


def _fingerprints(settings: Settings) -> dict[str, str]:
    """Hashes of the files and folders that settings name; the same name may later hold something else."""
    named = {
        "backbone": settings.model.backbone if settings.model.backbone not in EMBEDDED else None,
        "keywords": settings.keywords.source,
        "attention_model": settings.keywords.attention_model,
    }
    found = {}
    for key, name in named.items():
        path = None if name is None else Path(name).expanduser()
        if path is not None and path.is_dir():
            found[key] = folder_sha256(path)
        elif path is not None and path.is_file():
            found[key] = file_sha256(path)
    return found
