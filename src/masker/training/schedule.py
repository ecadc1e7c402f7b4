"""How long to train, from the number of documents.

An epoch says little: three of 300 documents are far from enough, three of 100,000 more than needed. A head that starts
from a probe needs few steps, and what counts is how many documents those steps see:

=================== ================================================================================
documents           seen by the network
=================== ================================================================================
cross-fitted        each once in each training, but at least 24 batches (32 below 200 documents): even a few train
                    the encoder, and the mean of the networks makes up for more
up to 2,000         each three times, but at least 32 batches
up to 6,000         6,000 in all
more                each once
=================== ================================================================================

Where the probe is weak (:mod:`masker.training.run_probes`) the head is new, and needs more: at least 72
batches, and each document three times in each of several trainings that are averaged, too.

docs/quality.md shows what they reach. ``training.epochs`` overrides them.
"""

from __future__ import annotations

from dataclasses import dataclass

from masker.config import Settings

LEAST_STEPS = 32
#: Of one of several trainings that are averaged; few documents gain from more, and take seconds all the same.
FOLD_STEPS, FOLD_STEPS_OF_FEW, FEW_DOCUMENTS = 24, 32, 200
EPOCHS = 3
ENOUGH = 6000
#: Of a new head.
NEW_STEPS = 72
#: The vanilla stage whose attention gives the keywords.
KEYWORD_STEPS, NEW_KEYWORD_STEPS = 16, 72
#: With fewer documents the lowest third of the encoder is not trained: it has little to learn from them.
FREEZE_BELOW = 1000


@dataclass(frozen=True)
class Schedule:
    """The length of one training: a number of epochs, or else of steps."""

    epochs: int | None = None
    steps: int | None = None


def final_schedule(
    settings: Settings, documents: int, *, cross_fitted: bool = False, new_head: bool = False
) -> Schedule:
    """The length of the final training on this many documents, or of one of several that are averaged."""
    if settings.epochs is not None:
        return Schedule(epochs=settings.epochs)
    size = min(settings.training.batch_size, documents)
    if cross_fitted and not new_head:
        least = FOLD_STEPS_OF_FEW if documents < FEW_DOCUMENTS else FOLD_STEPS
        return Schedule(steps=max(least, -(-documents // size)))
    seen = min(EPOCHS * documents, max(ENOUGH, documents))
    return Schedule(steps=max(NEW_STEPS if new_head else LEAST_STEPS, -(-seen // size)))


def keyword_schedule(settings: Settings, documents: int, *, new_head: bool = False) -> Schedule:
    """The length of the vanilla stage whose attention gives the keywords."""
    if settings.vanilla_stage_epochs is not None:
        return Schedule(epochs=settings.vanilla_stage_epochs)
    most = NEW_KEYWORD_STEPS if new_head else KEYWORD_STEPS
    steps = final_schedule(settings, documents, new_head=new_head).steps
    return Schedule(steps=most if steps is None else min(steps, most))


def frozen_layers(settings: Settings, documents: int, layers: int, *, new_head: bool = False) -> int:
    """How many of the encoder's lowest layers are not trained."""
    if settings.training.frozen_layers is not None:
        return min(settings.training.frozen_layers, layers)
    return layers // 3 if settings.starts_from_probe and not new_head and documents < FREEZE_BELOW else 0
