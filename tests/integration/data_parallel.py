"""Training runs that a test does once in one process and once in two: ``torchrun … data_parallel.py SPEC``."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from safetensors.torch import save_file
from transformers import TrainerCallback

from masker import Documents, MaskerError, Model
from masker.config import Settings
from masker.training import trainer as module
from tests.conftest import train_network

CLASSES = ["food", "space", "sport"]


class Cut(Exception):
    """Stands for a machine that goes down."""


class Recorder(TrainerCallback):
    def __init__(self, lines: list[dict[str, float]]) -> None:
        self.lines = lines

    def on_log(self, args, state, control, logs=None, **kwargs):
        self.lines.append({**logs, "step": state.global_step})

    def on_step_begin(self, args, state, control, **kwargs):
        self.lines.append({"begin": state.global_step})


def run(scenario: dict, folder: Path, *, cut_after_epochs: int = 0) -> dict:
    """Train as the scenario says; losses, steps, keywords, the validation result, and the weights as a file."""
    lines: list[dict[str, float]] = []
    original = module.MaskerTrainer.__init__
    save = module.MaskerTrainer._save_checkpoint

    def with_recorder(self, *args, **kwargs):
        original(self, *args, **kwargs)
        self.add_callback(Recorder(lines))

    def cut(self, *args):
        save(self, *args)
        if cut_after_epochs and round(self.state.epoch) == cut_after_epochs:
            raise Cut

    module.MaskerTrainer.__init__, module.MaskerTrainer._save_checkpoint = with_recorder, cut
    try:
        settings = Settings.model_validate(scenario["settings"])
        trained = train_network(Documents(**scenario["documents"]), CLASSES, settings, folder / "work")
    finally:
        module.MaskerTrainer.__init__, module.MaskerTrainer._save_checkpoint = original, save
    state = {name: tensor.contiguous() for name, tensor in trained.network.state_dict().items()}
    return {
        "lines": lines,
        "keywords": None if trained.keywords is None else trained.keywords.to_json(),
        "metric": trained.validation,
        "state": state,
    }


def fit(scenario: dict, folder: Path) -> dict:
    """Fit a whole model with the default's folds; what it knows, and the weights."""
    settings = Settings.model_validate(scenario["settings"])
    model = Model.fit(Documents(**scenario["documents"]), settings, folder / "work", device="cpu")
    return {
        "threshold": model.detector.calibration.threshold,
        "metric": model.validation,
        "decisions": model.provenance["decisions"],
        "state": {name: tensor.contiguous() for name, tensor in model.backend.classifier.state_dict().items()},
    }


def _main(spec: dict) -> None:
    from masker import distributed
    from masker.commands.train import train

    for name, scenario in spec["scenarios"].items():
        folder = Path(spec["output"]) / name
        if scenario.get("missing"):
            try:
                train("no-such-file.csv", folder / "model", Settings.model_validate(scenario["settings"]))
                message = "no error"
            except MaskerError as error:
                message = str(error)
            result = {"message": message}
        else:
            if scenario.get("cut"):
                try:
                    run(scenario, folder, cut_after_epochs=scenario["cut"])
                except Cut:
                    distributed.barrier()
            train_all = fit if scenario.get("fitted") else run
            result = {} if scenario.get("unfinished") else train_all(scenario, folder)
            save_file(result.pop("state", {}), folder / f"weights_{distributed.rank()}.safetensors")
        folder.mkdir(exist_ok=True)
        (folder / f"result_{distributed.rank()}.json").write_text(json.dumps(result))
    distributed.shut_down()


if __name__ == "__main__":
    _main(json.loads(Path(sys.argv[1]).read_text()))
