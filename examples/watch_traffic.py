"""Notice that the traffic has changed, from scores alone: no labels, and a stated rate of false alarms.

    python examples/watch_traffic.py [FOLDER]

The scores are drawn at random here, so that the example takes a second: 1,000 quiet texts, then three in ten are
foreign. With a model: ``DriftMonitor.of(model.detector.calibration, model.labels)``, and the answers of
``model.predict``.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

from masker.detection.calibration import Calibration
from masker.monitoring import DriftMonitor


def main(folder: Path) -> None:
    """Watch a stream of scores until the alarm; the state of the monitor stays in ``folder``."""
    draw = np.random.default_rng(0)
    held_out = draw.normal(size=200)
    calibration = Calibration.fit(held_out, np.zeros(200, dtype=np.int64), 1, 0.05, class_conditional=False)
    monitor = DriftMonitor.of(calibration, ["support"])
    for batch in range(200):
        foreign = draw.random(10) < (0.3 if batch >= 100 else 0.0)
        monitor.observe(list(draw.normal(size=10) + 3 * foreign), ["support"] * 10)
        if monitor.alarm:
            print(monitor.state()["sentence"])
            break
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "drift.json").write_text(json.dumps(monitor.to_json()), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "runs/watch-traffic"))
