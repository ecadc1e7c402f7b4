"""The base classes of out-of-distribution scores, and how to add one.

A score is one module: the equation as a pure function, a class around it, and ``@register_score``::

    @register_score
    class MarginScore(Score):
        name = "margin"

        def ood_score(self, outputs):
            logits = np.sort(outputs.logits.astype(np.float64), axis=1)
            return logits[:, -2] - logits[:, -1]

``--score margin`` then works in every command. Inside masker the module goes into ``masker/detection/scores/``. A
package of its own names the module in an entry point of the group ``masker.scores``::

    [project.entry-points."masker.scores"]
    margin = "my_package.margin"

There are two sorts. A :class:`Score` needs the logits alone, or statistics of the training documents that the model
gathers anyway; see :meth:`Score.build`. A :class:`LearntScore` learns arrays of its own from the training documents.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar, TypeVar

from masker.detection.arrays import Arrays, Floats, Labels
from masker.errors import ConfigError, ModelError
from masker.inference.outputs import Outputs
from masker.registry import SCORES

if TYPE_CHECKING:
    from masker.config import Settings
    from masker.detection.statistics import Statistics

#: The score that combines others; see :mod:`masker.detection.auto`.
AUTO = "auto"
#: Names that no score may have: ``auto``, and the key that stores the predicted classes beside the scores.
RESERVED_NAMES = (AUTO, "predicted")
#: Scores that earlier versions offered.
_DISTANCES = ("mahalanobis", "scaled-mahalanobis", "relative-mahalanobis", "knn")
REMOVED_SCORES = frozenset(
    ["knn-frozen", "vim", "vim-mean", *(f"{score}-{kind}" for score in _DISTANCES for kind in ("mean", "layers"))]
)


class Score(ABC):
    """An out-of-distribution score that is ready to use.

    A score that exists for several kinds of features is one class with a subclass for each further kind, which
    overrides ``name`` and ``features``.

    Attributes:
        name: What ``--score`` and ``masker.json`` call it.
        features: The kinds of features it reads besides the logits: ``cls`` and ``middle`` of a fine-tuned encoder,
            ``vectors`` of a linear method. The model keeps training statistics of these kinds.
        published_threshold: Its authors reject a document that scores higher; ``None`` if they give no such rule.
        method_only: Whether it belongs to a training method (``Method.own_score``) and ``--score`` cannot select it.
    """

    name: str
    features: tuple[str, ...] = ()
    published_threshold: ClassVar[float | None] = None
    method_only: ClassVar[bool] = False

    @abstractmethod
    def ood_score(self, outputs: Outputs) -> Floats:
        """(N,) scores of N documents, higher = more out-of-distribution."""

    @classmethod
    def build(cls, statistics: Statistics | None, settings: Settings) -> Score:
        """Make the score. Override it if the score needs either argument.

        The statistics cover every kind in ``features``, and are ``None`` only if there is no such kind.
        """
        return cls()


class LearntScore(Score):
    """A score that learns arrays of its own from the outputs of all training documents, held in memory at once.

    It is made by :meth:`fit` and :meth:`from_state`, never by :meth:`build`.
    """

    @classmethod
    @abstractmethod
    def fit(cls, outputs: Outputs, labels: Labels, settings: Settings) -> LearntScore:
        """Learn from the outputs of N training documents, with the kinds in ``features``, and their (N,) classes."""

    @abstractmethod
    def state(self) -> Arrays:
        """Everything learnt, as plain arrays to be stored with the model."""

    @classmethod
    @abstractmethod
    def from_state(cls, state: Arrays, settings: Settings) -> LearntScore:
        """Rebuild the score from its :meth:`state`."""


class MissingScore(Score):
    """The score of a stored model that is not installed here.

    The model opens, so that another score can be calibrated for it; scoring a text is an error.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def ood_score(self, outputs: Outputs) -> Floats:
        raise self.error()

    def error(self) -> ModelError:
        why = "is not installed; install the package that provides it,"
        if self.name in REMOVED_SCORES:
            why = "was removed from masker;"
        return ModelError(
            f"the model uses score '{self.name}', which {why} choose another with "
            "'masker calibrate MODEL DATA --score auto', or retrain"
        )


AnyScore = TypeVar("AnyScore", bound=Score)


def register_score(score: type[AnyScore]) -> type[AnyScore]:
    """Class decorator: offer a score under its ``name``, which must be neither reserved nor taken."""
    name = getattr(score, "name", None)
    if not isinstance(name, str) or not name or name in RESERVED_NAMES:
        raise ConfigError(
            f"score class {score.__name__} needs a name that is not one of {', '.join(RESERVED_NAMES)}; got {name!r}"
        )
    SCORES.add(name, score)
    return score


def build_score(name: str, statistics: Statistics | None, settings: Settings) -> Score:
    """Build a registered score from training statistics.

    Raises:
        ConfigError: If there is no such score.
        ModelError: If it reads features that there are no statistics of.
    """
    score: type[Score] = SCORES.get(name)
    if set(score.features) - set(() if statistics is None else statistics.moments):
        raise ModelError(
            f"the model has no statistics for score '{name}'; train with --score {name}, or add them with "
            f"'masker calibrate MODEL DATA --score {name} --statistics TRAINING_DATA'"
        )
    return score.build(statistics, settings)
