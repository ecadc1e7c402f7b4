"""Settings of a new head, for what the paper's training is about: epochs, checkpoints, documents set aside."""

from __future__ import annotations

import pytest

#: The default was this before heads started from a probe.
NEW_HEAD = {
    "model": {"pooling": "document-token"},
    "masking": {"view_share": 1.0},
    "training": {"head_start": "new", "embedding_lr_scale": 0.5, "frozen_layers": 0},
    "detection": {"calibration": "split"},
}


@pytest.fixture(scope="session")
def new_head_settings(tiny_settings):
    """``tiny_settings`` for a new head, all of the encoder trained, with a validation part."""

    def build(family: str = "bert", **sections):
        names = {**NEW_HEAD, **sections}
        return tiny_settings(family, **{name: {**NEW_HEAD.get(name, {}), **sections.get(name, {})} for name in names})

    return build
