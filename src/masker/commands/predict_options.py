"""What a prediction writes, and how it opens the model."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class PredictOptions:
    """Options of ``masker predict``: the first three say what to write, the others open the model."""

    form: str = "jsonl"
    with_text: bool = False
    reject: bool = False
    backend: str | None = None
    score: str | None = None
    false_alarm_rate: float | None = None
    device: str = "auto"
    confidence: float | None = None
    missed_rate: float | None = None

    @property
    def can_use_gpu(self) -> bool:
        """Whether a GPU would be used if there is one; ONNX Runtime runs on the CPU."""
        return self.device != "cpu" and not (self.backend or "").startswith("onnx")
