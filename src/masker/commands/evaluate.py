"""``masker evaluate``: figures of a model on a test set and on out-of-distribution sets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from masker.config import DataSettings, Head
from masker.documents import Documents, read_documents
from masker.documents.sources import short_name
from masker.model import Model
from masker.progress import progress_bar


@dataclass(frozen=True)
class EvaluationSources:
    """What to measure on.

    Attributes:
        test: A source of labelled documents.
        ood: Sources of out-of-distribution documents.
        ood_where: Filter of the rows of ``ood``; ``settings.where`` applies to ``test`` only.
    """

    test: str
    ood: Sequence[str] = field(default_factory=tuple)
    ood_where: dict[str, list[str]] | None = None


def evaluate(
    model: Model, sources: EvaluationSources, settings: DataSettings, *, resamples: int = 1000
) -> dict[str, Any]:
    """Measure a model; see :meth:`masker.model.Model.evaluate`."""
    test, ood = read_evaluation(sources, settings, head=model.head)
    with progress_bar(len(test) + sum(map(len, ood.values())), "evaluate", "doc") as bar:
        return model.evaluate(test, ood, resamples=resamples, advance=bar.update)


def read_evaluation(
    sources: EvaluationSources, settings: DataSettings, *, head: Head
) -> tuple[Documents, dict[str, Documents]]:
    """Read a test set, and out-of-distribution sets by their short names."""
    test = read_documents(sources.test, settings, require_labels=True, head=head)
    named: dict[str, Documents] = {}
    foreign = settings.model_copy(update={"where": sources.ood_where})
    for source in sources.ood:
        documents = read_documents(source, foreign, require_labels=False)
        short = short_name(source)
        named[source if short in named else short] = documents
    return test, named
