"""What the scores of one model are built from, and how a model folder stores it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from masker.config import Settings
from masker.detection.arrays import Arrays
from masker.detection.auto import Combination, JointScore
from masker.detection.score import AUTO, LearntScore, MissingScore, Score, build_score
from masker.detection.statistics import Statistics
from masker.errors import ModelError
from masker.registry import SCORES

_STATISTICS, _REFERENCE, _LEARNT = "known.", "reference.", "score."


@dataclass(frozen=True)
class ScoreBasis:
    """What the scores of one model are built from."""

    statistics: Statistics | None = None  # if a score that reads features was asked for
    combination: Combination | None = None  # what `auto` consists of, if it was chosen
    learnt: LearntScore | None = None  # need not be the score in use

    def build(self, name: str, settings: Settings) -> Score:
        """Build a score by name.

        Raises:
            ConfigError: If there is no such score.
            ModelError: If the model lacks what it is built from.
        """
        if name == AUTO:
            if self.combination is None:
                raise ModelError(
                    "the model has no score 'auto'; name another --score, or choose it with "
                    "'masker calibrate MODEL DATA --score auto'"
                )
            members = [build_score(member, self.statistics, settings) for member in self.combination.offsets]
            return JointScore(members, self.combination)
        if not issubclass(SCORES.get(name), LearntScore):
            return build_score(name, self.statistics, settings)
        if self.learnt is None or self.learnt.name != name:
            raise ModelError(
                f"the model has not learnt score '{name}'; train with --score {name}, or add it with "
                f"'masker calibrate MODEL DATA --score {name} --statistics TRAINING_DATA'"
            )
        return self.learnt

    def names(self) -> list[str]:
        """All scores that can be built and that ``--score`` can select."""
        kinds = set() if self.statistics is None else set(self.statistics.moments)
        names = [
            name
            for name, score in SCORES.items()
            if not score.method_only and not issubclass(score, LearntScore) and kinds.issuperset(score.features)
        ]
        names += [] if self.learnt is None else [self.learnt.name]
        return names if self.combination is None else [*names, AUTO]

    def to_arrays(self) -> Arrays:
        arrays: Arrays = {}
        if self.statistics is not None:
            arrays |= {_STATISTICS + name: array for name, array in self.statistics.to_arrays().items()}
        if self.combination is not None:
            arrays |= {_REFERENCE + name: scores for name, scores in self.combination.references.items()}
        if self.learnt is not None:
            arrays |= {_LEARNT + name: array for name, array in self.learnt.state().items()}
        return arrays

    @classmethod
    def from_stored(
        cls, combination: dict[str, Any] | None, learnt: str, arrays: Arrays, settings: Settings
    ) -> ScoreBasis:
        """Rebuild from all arrays of ``masker.safetensors``.

        Args:
            combination: Offsets and evidence of ``auto``.
            learnt: The name of the learnt score; it is ignored if it is not that of an installed learnt score.
        """
        statistics = part_of(arrays, _STATISTICS)
        chosen = None
        if combination is not None:
            references = part_of(arrays, _REFERENCE)
            tail = combination.get("least_tail", 1)  # folders of earlier versions do not say
            chosen = Combination(combination["offsets"], references, combination["evidence"], tail)
        score: type[Score] = SCORES.get(learnt) if learnt in SCORES else MissingScore
        state = score.from_state(part_of(arrays, _LEARNT), settings) if issubclass(score, LearntScore) else None
        return cls(Statistics.from_arrays(statistics) if statistics else None, chosen, state)


def part_of(arrays: Arrays, prefix: str) -> Arrays:
    """The arrays whose names start with ``prefix``, without it."""
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
