"""The losses of each step, by hand."""

from __future__ import annotations

import json

import pytest

from masker.training.loss_curve import CURVE_FILE, MOST_POINTS, LossCurve, read_loss_curves


def follow(curve: LossCurve, steps: range) -> None:
    """Step t has two batches of one and three documents; L_CE is t in each document, L_MKR 10 t."""
    for step in steps:
        for documents in (1, 3):
            curve.add({"L_CE": step * documents, "L_MKR": 10.0 * step * documents}, documents)
        curve.on_step_end(None, None, None)


def test_a_point_is_the_mean_over_the_documents_of_a_step():
    curve = LossCurve(["L_CE", "L_MKR"])
    follow(curve, range(1, 4))
    assert curve.means() == {"step": [1, 2, 3], "L_CE": [1.0, 2.0, 3.0], "L_MKR": [10.0, 20.0, 30.0]}


def test_a_step_without_documents_has_no_point():
    """Such as that of a process for which a batch had no document left."""
    curve = LossCurve(["L_CE"])
    follow(curve, range(1, 2))
    curve.on_step_end(None, None, None)
    follow(curve, range(3, 4))
    assert curve.means() == {"step": [1, 3], "L_CE": [1.0, 3.0]}


@pytest.mark.parametrize("steps", [MOST_POINTS, MOST_POINTS + 1, 1000, 12345])
def test_long_trainings_merge_steps(steps):
    """Points stay few, and the mean over all of them, weighted by their steps, is that of 1 … n: (n + 1) / 2."""
    curve = LossCurve(["L_CE"])
    follow(curve, range(1, steps + 1))
    found = curve.means()
    assert MOST_POINTS / 2 <= len(found["step"]) <= MOST_POINTS
    assert found["step"][-1] == steps
    widths = [end - start for start, end in zip([0, *found["step"]], found["step"], strict=False)]
    assert len(set(widths[:-1])) == 1 and widths[-1] <= widths[0]
    total = sum(width * mean for width, mean in zip(widths, found["L_CE"], strict=True))
    assert total / steps == pytest.approx((steps + 1) / 2, rel=1e-3)


def test_it_goes_on_where_it_was_saved(tmp_path):
    whole, first, second = LossCurve(["L_CE"]), LossCurve(["L_CE"]), LossCurve(["L_CE"])
    follow(whole, range(1, 300))
    follow(first, range(1, 200))
    first.save(tmp_path)
    second.load(tmp_path)
    follow(second, range(200, 300))
    assert second.means() == whole.means()
    second.load(tmp_path / "of an earlier version")
    assert second.means() == whole.means()


def test_curves_are_read_by_stage(tmp_path):
    for stage in ("vanilla", "fold-1/masker"):
        (tmp_path / stage).mkdir(parents=True)
        (tmp_path / stage / CURVE_FILE).write_text(json.dumps({"step": [1], "L_CE": [0.5]}))
    (tmp_path / "unfinished").mkdir()
    assert list(read_loss_curves(tmp_path)) == ["fold-1/masker", "vanilla"]
