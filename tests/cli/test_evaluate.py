"""``masker evaluate`` as typed."""

from __future__ import annotations

import json

from tests.cli.command_line import one_line, run, write_genres, write_jsonl


def test_json(masker_place):
    data = [str(masker_place / "test.jsonl"), "--ood", str(masker_place / "ood.jsonl")]
    report = json.loads(run("evaluate", str(masker_place / "model"), *data, "--json").stdout)
    assert {"accuracy", "macro_f1", "ece"} == set(report["classification"])
    figures = report["ood"]["ood"]
    for name in ("auroc", "eer", "detection_accuracy", "tnr_at_tpr80", "aupr", "fpr_at_tpr95"):
        assert 0 <= figures[name]["low"] <= figures[name]["high"] <= 1
        assert 0 <= figures[name]["value"] <= 1
    assert report["provenance"]["versions"]["masker"]
    assert report["provenance"]["trained"]["data_sha256"]


def test_table(masker_place):
    data = [str(masker_place / "test.jsonl"), "--ood", str(masker_place / "ood.jsonl")]
    done = run("evaluate", str(masker_place / "model"), *data)
    assert "macro_f1" in done.stdout
    assert "AUROC" in done.stdout
    assert "TNR@TPR80" in done.stdout


def test_the_promise_and_another_score(score_place):
    data = [str(score_place / "test.jsonl"), "--ood", str(score_place / "ood.jsonl"), "--resamples", "20"]
    args = [str(score_place / "model"), *data]
    report = json.loads(run("evaluate", *args, "--json").stdout)
    assert report["score"] == "auto"
    assert set(report["false_alarms"]) == {
        "asked", "promised", "confidence", "rate_interval", "held_out", "separate", "realised",
    }  # fmt: skip
    assert set(report["false_alarms"]["realised"]) == {"value", "low", "high"}
    assert (
        set(report["selective"]["confidence"]) == {"aurc", "curve"}
        and len(report["selective"]["confidence"]["curve"]) == 60
    )
    assert set(report["confidence"]) == {"temperature", "ece_before", "ece_after"}
    paper = json.loads(run("evaluate", *args, "--json", "--score", "max-prob").stdout)
    assert paper["score"] == "max-prob"
    table = run("evaluate", *args).stdout
    assert "AURC by confidence" in table and "rejected as OOD (promised" in table


def test_rows_chosen_by_a_column(masker_place, tmp_path):
    """Sixty texts in two genres by turns: those of one are the test set, those of the other out-of-distribution."""
    path = write_genres(tmp_path / "genres.jsonl")
    chosen = ("--where", "genre=telephone")
    evaluate = ("evaluate", str(masker_place / "model"), str(path), *chosen, "--resamples", "10", "--ood", str(path))
    report = json.loads(run(*evaluate, "--ood-where", "genre=letters", "--json").stdout)
    assert (report["test"], report["documents"]) == (f"{path} (genre=telephone)", 30)
    assert [part["documents"] for part in report["ood"].values()] == [30]
    assert "(genre=telephone)" in run(*evaluate).stdout


def test_labels_the_model_does_not_know_are_refused(masker_place, tmp_path):
    path = write_jsonl(tmp_path / "t.jsonl", ["rocket", "guitar"], ["space", "music"])
    done = run("evaluate", str(masker_place / "model"), str(path))
    assert done.returncode == 2
    assert "music" in done.stderr and "--ood" in done.stderr


def test_a_filter_without_anything_to_filter_is_refused(masker_place):
    done = run("evaluate", str(masker_place / "model"), str(masker_place / "test.jsonl"), "--ood-where", "a=b")
    assert "give them with --ood" in one_line(done)
