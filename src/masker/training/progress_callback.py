"""The progress bar of a training stage."""

from __future__ import annotations

from typing import Any

from transformers import TrainerCallback

from masker.progress import progress_bar


class ProgressCallback(TrainerCallback):  # type: ignore[misc]
    """One bar for a stage, followed by the latest losses and validation result."""

    def __init__(self, title: str) -> None:
        self.title = title
        self.bar: Any = None
        self.shown: dict[str, str] = {}

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if state.is_world_process_zero:
            self.bar = progress_bar(state.max_steps, self.title, "step")
            self.bar.update(state.global_step)

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if self.bar is not None:
            self.bar.update(state.global_step - self.bar.n)

    def on_log(self, args: Any, state: Any, control: Any, logs: dict[str, Any] | None = None, **kwargs: Any) -> None:
        if self.bar is not None and logs:
            self.shown |= {
                name.removeprefix("eval_"): f"{logs[name]:.3g}"
                for name in ("loss", "L_CE", "L_MKR", "L_MER", "L_attn", "eval_accuracy", "eval_pearson")
                if name in logs
            }
            self.bar.set_postfix(self.shown, refresh=False)

    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self.close()

    def close(self) -> None:
        """End the line of the bar, also where a training fails: what is said next has a line of its own."""
        if self.bar is not None:
            self.bar.close()
