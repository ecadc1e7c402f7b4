"""Settings that go together: training as in the paper."""

from __future__ import annotations

from typing import Any

#: Training as in the paper, where a default of ours differs. The paper's head is 1-vs-rest, which a new head is anyway.
PAPER_TRAINING: dict[str, dict[str, Any]] = {
    "model": {"pooling": "document-token"},
    "masking": {"context": "mask", "view_share": 1.0},
    "training": {
        "averaged_share": 0.0,
        "head_start": "new",
        "batch_size": 16,
        "learning_rate": 5e-5,
        "head_lr_scale": 20.0,
        "embedding_lr_scale": 0.5,
        "frozen_layers": 0,
    },
    "detection": {"calibration": "split"},
}
#: And the paper's regularizer weights for its two kinds of task (section "Experimental setup").
PRESETS: dict[str, dict[str, dict[str, Any]]] = {
    "ood": {"loss": {"lambda_mkr": 1e-3, "lambda_mer": 1e-3}, **PAPER_TRAINING},
    "cross-domain": {"loss": {"lambda_mkr": 1e-3, "lambda_mer": 1e-4}, **PAPER_TRAINING},
}
