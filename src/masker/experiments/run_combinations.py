"""Which runs a recipe has at a scale."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from masker.errors import ConfigError
from masker.experiments.recipe import Recipe
from masker.experiments.recipe_parts import Encoder, Scale
from masker.experiments.run_filter import RunFilter
from masker.experiments.run_settings import RunCoordinates
from masker.presets import is_roberta

_ROBERTA = "RoBERTa"


def run_combinations(
    recipe: Recipe, scale: Scale, backbones: Sequence[str], seeds: Sequence[int], wanted: RunFilter
) -> Iterator[RunCoordinates]:
    """The wanted runs of a recipe at a scale, seed by seed; backbones and seeds may be empty for those of the scale."""
    encoders = _choose_encoders(recipe, scale, backbones)
    for seed in dict.fromkeys(seeds or scale.seeds):
        for source in recipe.sources:
            if scale.sources is not None and source not in scale.sources:
                continue
            for name, system in recipe.systems.items():
                if scale.systems is not None and name not in scale.systems:
                    continue
                if system.sources is not None and source not in system.sources:
                    continue
                for column, encoder in list(encoders.items())[: 1 if system.backbone_free else None]:
                    shown = "" if system.backbone_free else column
                    if wanted.matches(train=source, system=name, backbone=(shown, encoder.model)):
                        yield RunCoordinates(source, name, shown, encoder, seed)


def _choose_encoders(recipe: Recipe, scale: Scale, names: Sequence[str]) -> dict[str, Encoder]:
    """The scale's encoders, or those asked for.

    One that the scale does not know is compared with its first column, but a RoBERTa with the paper's RoBERTa: it is
    trained for as many epochs as that, which other scales of the recipe know.
    """
    if not names:
        return scale.backbones
    first = next(iter(scale.backbones))
    roberta = next((it.backbones[_ROBERTA] for it in recipe.scales.values() if _ROBERTA in it.backbones), None)
    chosen: dict[str, Encoder] = {}
    for name in names:
        known = (column for column, it in scale.backbones.items() if name.lower() in (column.lower(), it.model.lower()))
        column = next(known, _ROBERTA if roberta is not None and is_roberta(name) else first)
        if column in chosen:
            raise ConfigError(
                f"--backbone: '{name}' and '{chosen[column].model}' would both be compared with {column}; "
                "run them separately"
            )
        encoder = scale.backbones.get(column, roberta)
        assert encoder is not None
        chosen[column] = encoder if name.lower() == column.lower() else encoder.model_copy(update={"model": name})
    return chosen
