"""What a prediction writes, and how it opens the model."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class PredictOptions:
    """Options of ``masker predict``, for one source or a folder of them.

    Attributes:
        form: ``jsonl`` or ``csv``.
        with_text: Repeat the input text (and its pair) before the prediction.
        reject: Give out-of-distribution texts the label ``None``.
        backend: See :meth:`masker.model.Model.open`, as for the next three.
        score: Another out-of-distribution score.
        false_alarm_rate: Another rate.
        device: Where the network runs.
    """

    form: str = "jsonl"
    with_text: bool = False
    reject: bool = False
    backend: str | None = None
    score: str | None = None
    false_alarm_rate: float | None = None
    device: str = "auto"

    @property
    def can_use_gpu(self) -> bool:
        """Whether a GPU would be used if there is one; ONNX Runtime runs on the CPU."""
        return self.device != "cpu" and not (self.backend or "").startswith("onnx")
