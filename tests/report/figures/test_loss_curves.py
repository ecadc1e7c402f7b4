"""Training curves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from masker.report.figures.loss_curves import TERMS, draw_loss_curves, smoothed
from tests.report.figures.looks import drawn, texts_of
from tests.report.made_report import class_names, made_report

REPORT = made_report(class_names(3))


def test_a_panel_for_each_term_and_a_mean_over_networks():
    picture = drawn(draw_loss_curves, REPORT)
    panels = picture.canvas.axes
    assert [panel.get_title(loc="left") for panel in panels] == [TERMS[name] for name in ("L_CE", "L_MKR", "L_MER")]
    assert [len(panel.lines) for panel in panels] == [8, 6, 6], "five networks and their mean; L_CE of vanilla, too"
    folds = [REPORT.losses[f"fold-{n}/masker"]["L_MKR"] for n in range(1, 6)]
    np.testing.assert_allclose(panels[1].lines[5].get_ydata(), np.mean(folds, axis=0))
    assert panels[0].lines[6].get_ydata().tolist() == REPORT.losses["vanilla"]["L_CE"]
    assert {"masker: mean of 5 cross-fitted networks", "vanilla"} <= texts_of(picture)
    assert "L_CE + 0.001 L_MKR + 0.001 L_MER" in picture.caption


def test_only_terms_that_were_trained_are_weighed():
    settings = {**REPORT.settings, "loss": {**REPORT.settings["loss"], "lambda_attention": 0.5}}
    curve = {"step": [1, 2], "L_CE": [1.0, 0.5], "L_attn": [0.3, 0.1]}
    picture = drawn(draw_loss_curves, replace(REPORT, losses={"vanilla": curve}, settings=settings))
    assert [panel.get_title(loc="left") for panel in picture.canvas.axes] == [TERMS["L_CE"], TERMS["L_attn"]]
    assert picture.caption.endswith("trained: L_CE + 0.5 L_attn.")


def test_a_running_mean():
    """A tenth of 40 points is a window of 5: of 0 … 39 it leaves the middle alone, and its ends are 0…2 and 37…39."""
    assert smoothed([1.0, 5.0]).tolist() == [1.0, 5.0]
    found = smoothed([float(n) for n in range(40)])
    assert found[2:38].tolist() == pytest.approx(list(range(2, 38))) and (found[0], found[-1]) == (1.0, 38.0)


def test_one_network_and_networks_of_different_length():
    alone = replace(REPORT, losses={"masker": {"step": [10], "L_CE": [0.5]}})
    [panel] = drawn(draw_loss_curves, alone).canvas.axes
    assert panel.lines[1].get_marker() == "o", "a single point would be no line"
    uneven = {"fold-1/masker": {"step": [1, 2], "L_CE": [1.0, 0.5]}, "fold-2/masker": {"step": [1], "L_CE": [3.0]}}
    [panel] = drawn(draw_loss_curves, replace(REPORT, losses=uneven)).canvas.axes
    assert panel.lines[2].get_ydata().tolist() == [2.0]


def test_nothing_without_losses():
    for losses in ({}, {"masker": {"step": []}}):
        assert drawn(draw_loss_curves, replace(REPORT, losses=losses)) is None
