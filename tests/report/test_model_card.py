"""The model card."""

from __future__ import annotations

from dataclasses import replace

from huggingface_hub import ModelCard

from masker.analysis.report_data import Report
from masker.report.model_card import CARD, MARK, model_card, write_model_card
from tests.report.made_report import HOSTILE, class_names, interval, made_report

REPORT = made_report(class_names(3))


def test_the_hub_can_read_it():
    card = ModelCard(model_card(REPORT))
    data = card.data.to_dict()
    assert data["library_name"] == "transformers" and data["pipeline_tag"] == "text-classification"
    found = {result.metric_type: result.metric_value for result in card.data.eval_results}
    assert found == {"accuracy": 0.8, "macro_f1": 0.78, "ece": 0.04}
    assert "base_model" not in data, "minilm is not the name of a model on the hub"


def test_a_backbone_of_the_hub_is_named():
    settings = {**REPORT.settings, "model": {**REPORT.settings["model"], "backbone": "org/some-encoder"}}
    assert ModelCard(model_card(replace(REPORT, settings=settings))).data.base_model == "org/some-encoder"


def test_it_says_what_matters():
    text = model_card(REPORT)
    right = REPORT.known.right
    assert f"{right['low']:.3f} – {right['high']:.3f}" in text
    assert "It has 3 classes: class 000, class 001, class 002." in text
    assert "AUROC, reviews" in text and "At most 5 % of texts" in text and "temperature 1.3" in text
    assert "## Limits" in text and "false alarms" in text
    assert "not measured" not in text and "not measured" in model_card(made_report(class_names(3), foreign=()))


def test_names_are_no_markup():
    text = model_card(made_report(HOSTILE))
    assert "<script>" not in text and "\\<script\\>" in text
    assert ModelCard(text).data.to_dict()["model-index"]


def test_held_out_documents_a_regression_and_nothing():
    held_out = replace(REPORT, known=replace(REPORT.known, held_out=True))
    assert "each judged by a network that was not trained on it" in model_card(held_out)
    chosen = replace(REPORT, known=replace(REPORT.known, held_out=True, separate=False))
    assert "also helped to choose" in model_card(chosen)
    facts = replace(REPORT.model, classes=[], score=None, threshold=None)
    evaluation = {"test": "t", "documents": 9, "regression": {"pearson": interval(0.5)}}
    number = model_card(Report(facts, ["c"], evaluation))
    assert "It predicts a number" in number and "pearson" in number and "Calibration" not in number
    assert "It has not been measured." in model_card(Report(REPORT.model, ["c"], None))


def test_a_model_that_rejects_nothing_says_so():
    facts = replace(REPORT.model, threshold=float("inf"), promised=None)
    text = model_card(replace(REPORT, model=facts))
    assert "nothing is rejected until `masker calibrate MODEL NEW_TEXTS` sets a threshold" in text
    assert "exceeds" not in text


def test_figures_without_a_spread_are_left_out():
    """If every answer is right, resampling says nothing about how wrong that may be."""
    evaluation = {**REPORT.evaluation, "classification": {
        **REPORT.evaluation["classification"], "macro_f1": {"value": 1.0, "low": 1.0, "high": 1.0}}}  # fmt: skip
    assert "macro F1" in model_card(REPORT)
    assert "macro F1" not in model_card(replace(REPORT, evaluation=evaluation))


def test_a_card_that_somebody_else_wrote_stays(tmp_path):
    assert write_model_card(REPORT, tmp_path) == tmp_path / CARD
    assert MARK in (tmp_path / CARD).read_text()
    assert write_model_card(replace(REPORT, conclusion=["new"]), tmp_path) is not None
    assert "new" in (tmp_path / CARD).read_text()
    (tmp_path / CARD).write_text("# mine\n")
    assert write_model_card(REPORT, tmp_path) is None and (tmp_path / CARD).read_text() == "# mine\n"
