"""What the report of a model shows, from a model and documents."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from masker import ConfigError, DataError, Documents, Model
from masker.commands.report import (
    ReportDocuments,
    ReportOptions,
    ReportSources,
    find_model_folders,
    read_report_documents,
    report_on,
)
from masker.config import DataSettings
from tests.cli.command_line import write_jsonl
from tests.commands.report_subject import documents, foreign

FIXTURES = Path(__file__).parent.parent / "fixtures"
FAST = {"resamples": 20}


@pytest.fixture(scope="module")
def model(reported_model) -> Model:
    return Model.open(reported_model, device="cpu")


@pytest.fixture(scope="module")
def full(model):
    """A report with all documents there may be."""
    pytest.importorskip("openTSNE")
    given = ReportDocuments(
        documents(45, 1, "folder/test.csv"),
        {"music": foreign()},
        documents(60, 0, "train"),
        {"new": documents(30, 2, "n")},
    )
    return report_on(model, given, ReportOptions("mine", {"other": model}, **FAST))


def test_without_documents_it_shows_what_the_model_kept(model):
    report = report_on(model, ReportDocuments(), ReportOptions("mine", **FAST))
    assert report.known.held_out and report.known.documents == 60 and report.known.name == "held-out documents"
    assert report.known.right["value"] == pytest.approx(model.validation["accuracy"])
    assert list(report.scores.counts) == ["held-out documents"]
    assert set(report.losses) == {"vanilla", *(f"fold-{fold}/masker" for fold in range(1, 6))}
    assert set(report.losses["fold-1/masker"]) == {"step", "L_CE", "L_MKR", "L_MER"}
    assert [(shown.scheme, shown.trained_with) for shown in report.keywords] == [("attention", True)]
    assert report.decisions["held out"].startswith("none: cross-fitted")
    assert not (report.maps or report.attended or report.risky or report.detection)
    assert "confidence" not in report.evaluation, "what it was before calibration is not known"
    assert "60 held-out documents" in report.conclusion[0]


def test_with_documents_it_shows_everything(full):
    assert full.known.name == "test" and not full.known.held_out
    assert list(full.detection) == list(full.evaluation["ood"]) == ["music"]
    assert list(full.scores.counts) == ["test", "music"]
    assert full.known.confusion.rows[-1] == "music"
    assert [(shown.scheme, shown.trained_with) for shown in full.keywords] == [
        ("attention", True),
        ("frequency", False),
    ]
    assert set(full.keyword_rates.rates) == {"food", "space", "sport"}
    assert set(full.keyword_rates.rates["food"]) == {
        f"{name}: {label}" for name in ("test", "new") for label in ("food", "space", "sport")
    }
    assert [(shown.title, shown.groups) for shown in full.maps] == [
        ("known and foreign", ["test", "music"]),
        ("source and target", ["training", "new"]),
    ]
    assert [(shown.model, shown.documents) for shown in full.attended] == [("mine", "new"), ("other", "new")]
    assert "rejected although known" in full.risky or "confidently wrong" in full.risky


def test_it_is_json(full):
    content = json.loads(json.dumps(full.to_json(), allow_nan=False))
    assert content["known"]["confusion"]["cells"] == full.known.confusion.cells
    assert content["maps"][0]["points"][0]["text"]


def test_the_evaluation_is_that_of_masker_evaluate(model, full):
    expected = model.evaluate(documents(45, 1, "folder/test.csv"), {"music": foreign()}, resamples=20)
    found = dict(full.evaluation)
    assert found.pop("provenance")["data_sha256"] == expected.pop("provenance")["data_sha256"]
    assert found == expected


def test_sets_of_the_same_name_are_told_apart(model):
    pytest.importorskip("openTSNE")
    given = ReportDocuments(documents(12, 1, "a/test.csv"), {"test": foreign(12)})
    report = report_on(model, given, ReportOptions(**FAST))
    assert list(report.scores.counts) == report.maps[0].groups == ["test (known)", "test"]


def test_training_texts_as_a_test_set_are_noticed(model, full):
    pytest.importorskip("openTSNE")
    report = report_on(model, ReportDocuments(documents(60, 0, "again")), ReportOptions(**FAST))
    assert report.known.trained_on and not full.known.trained_on


def test_texts_can_be_left_out(model):
    pytest.importorskip("openTSNE")
    given = ReportDocuments(documents(12, 1, "test"), {"music": foreign(12)})
    report = report_on(model, given, ReportOptions(with_texts=False, **FAST))
    assert not report.risky and all(point.text is None for point in report.maps[0].points)
    spoken = json.dumps(report.to_json())
    assert not any(text in spoken for text in (*given.test.texts, *foreign(12).texts))


def test_foreign_text_alone_is_compared_with_the_held_out_documents(model):
    report = report_on(model, ReportDocuments(ood={"music": foreign()}), ReportOptions(**FAST))
    assert list(report.scores.counts) == ["held-out documents", "music"] and list(report.detection) == ["music"]
    assert not report.maps, "the embeddings of held-out documents were not kept"


def test_classes_are_mapped_where_there_is_nothing_else_to_compare(model):
    pytest.importorskip("openTSNE")
    report = report_on(model, ReportDocuments(documents(24, 1, "test")), ReportOptions(**FAST))
    assert [(shown.title, sorted(shown.groups)) for shown in report.maps] == [("classes", ["food", "space", "sport"])]


def test_labels_that_the_model_does_not_know_are_refused(model):
    test = Documents(["a", "b"], None, ["space", "music"], "t.csv")
    with pytest.raises(DataError, match=r"t.csv: the model has no class 'music'; .* pass them with --ood"):
        report_on(model, ReportDocuments(test))


@pytest.mark.parametrize("name", ["masker-bert", "linear-roberta"])
def test_models_of_earlier_versions_and_without_a_network(name):
    """They kept neither losses nor the classes of their held-out documents."""
    pytest.importorskip("openTSNE")
    model = Model.open(FIXTURES / name, device="cpu")
    report = report_on(model, ReportDocuments())
    assert report.evaluation is None and report.known is None and report.losses == {}
    assert sum(report.scores.counts["held-out documents"]) == len(model.detector.calibration.scores)
    assert "--test FILE" in report.conclusion[0]
    texts = ["rocket and moon", "soup and bread", "goal and player", "orbit", "cheese", "coach"]
    test = Documents(texts, None, [model.classes[n % len(model.classes)] for n in range(6)], "t")
    report = report_on(model, ReportDocuments(test, train=test), ReportOptions(**FAST))
    assert report.known.documents == 6 and len(report.maps[0].points) == 6
    assert report.keyword_rates.scheme == ("attention" if name == "masker-bert" else "frequency")


def test_a_regression(tiny_settings, tmp_path):
    texts, labels = documents(30, 0, "t").texts, [float(n % 5) for n in range(30)]
    settings = tiny_settings(model={"head": "regression"}, training={"method": "vanilla", "epochs": 1})
    data = Documents(texts, None, labels, "t")
    model = Model.fit(data, settings, tmp_path / "work", device="cpu")
    report = report_on(model, ReportDocuments(data, train=data), ReportOptions(**FAST))
    assert len(report.values) == 30 and set(report.evaluation["regression"]) >= {"pearson"}
    assert report.known is None and report.keyword_rates is None
    assert report_on(model, ReportDocuments()).evaluation is None
    with pytest.raises(ConfigError, match="without --ood"):
        report_on(model, ReportDocuments(data, {"o": data}))


def test_a_threshold_of_another_promise_is_shown(model):
    strict = model.adjusted(false_alarm_rate=0.2, score="max-prob")
    report = report_on(strict, ReportDocuments(), ReportOptions(**FAST))
    assert report.model.score == "max-prob" and report.scores.threshold == strict.detector.calibration.threshold
    assert np.isclose(report.model.promised, 0.2)


class TestFolders:
    def make(self, folder: Path, *names: str) -> Path:
        for name in names:
            (folder / name).mkdir(parents=True)
            (folder / name / "masker.json").write_text("{}")
        return folder

    def test_a_model(self, tmp_path):
        self.make(tmp_path, "m")
        assert find_model_folders(tmp_path / "m") == [tmp_path / "m"]

    def test_a_run(self, tmp_path):
        assert find_model_folders(self.make(tmp_path / "one", "m")) == [tmp_path / "one" / "m"]
        demo = self.make(tmp_path / "demo", "support", "vanilla", "masker")
        assert find_model_folders(demo) == [demo / "masker", demo / "vanilla"]

    def test_several_that_nothing_tells_apart(self, tmp_path):
        with pytest.raises(ConfigError, match=r"holds several models \(a, b\); name one"):
            find_model_folders(self.make(tmp_path, "a", "b"))

    @pytest.mark.parametrize("name", ["empty", "missing"])
    def test_no_model(self, tmp_path, name):
        """Opening it says what is wrong."""
        (tmp_path / "empty").mkdir()
        assert find_model_folders(tmp_path / name) == [tmp_path / name]


def test_sources_are_read_and_named(tmp_path):
    texts, labels = documents(12, 0, "t").texts, documents(12, 0, "t").labels
    paths = {name: str(write_jsonl(tmp_path / f"{name}.jsonl", texts, labels)) for name in ("test", "train", "other")}
    (tmp_path / "deep").mkdir()
    twin = str(write_jsonl(tmp_path / "deep" / "other.jsonl", texts))
    sources = ReportSources(paths["test"], (paths["other"], twin), paths["train"], (paths["other"],))
    found = read_report_documents(sources, DataSettings(limit=5), head="multi-class")
    assert (len(found.test), len(found.train)) == (5, 12), "a limit is for the test set"
    assert list(found.ood) == ["other", twin] and list(found.target) == ["other"]
    assert read_report_documents(ReportSources(), DataSettings(), head="multi-class") == ReportDocuments()


def test_an_exported_graph_has_no_attention(model, monkeypatch):
    from masker.analysis import keyword_views

    monkeypatch.setattr(keyword_views, "OnnxBackend", type(model.backend))
    train = documents(12, 1, "t")
    report = report_on(replace(model, provenance={}), ReportDocuments(train=train), ReportOptions(**FAST))
    assert [shown.scheme for shown in report.keywords] == ["attention"] and report.keyword_rates is None
    assert not report.attended and report.model.created == ""
