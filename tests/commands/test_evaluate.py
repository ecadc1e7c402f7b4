"""Which documents are measured, and under which names."""

from __future__ import annotations

import pytest

from masker import DataError
from masker.commands.evaluate import EvaluationSources, evaluate, read_evaluation
from masker.config import DataSettings
from tests.cli.command_line import write_jsonl


@pytest.fixture
def files(tmp_path):
    (tmp_path / "other").mkdir()
    for folder in (tmp_path, tmp_path / "other"):
        write_jsonl(folder / "reviews.jsonl", ["x", "y"])
    (tmp_path / "table.csv").write_text("text,genre\na,letters\nb,fax\n")
    test = tmp_path / "test.csv"
    test.write_text("text,label,genre\na,1,letters\nb,2,fax\nc,1,fax\n")
    return tmp_path


def test_sets_have_short_names_that_differ(files):
    ood = [str(files / "reviews.jsonl"), str(files / "other" / "reviews.jsonl"), str(files / "table.csv")]
    test, named = read_evaluation(EvaluationSources(str(files / "test.csv"), ood), DataSettings(), head="multi-class")
    assert test.labels == ["1", "2", "1"]
    assert {name: len(documents) for name, documents in named.items()} == {"reviews": 2, ood[1]: 2, "table": 2}


def test_each_side_has_a_filter_of_its_own(files):
    sources = EvaluationSources(str(files / "test.csv"), [str(files / "table.csv")], {"genre": ["letters"]})
    test, named = read_evaluation(sources, DataSettings(where={"genre": ["fax"]}), head="multi-class")
    assert (test.texts, named["table"].texts) == (["b", "c"], ["a"])


def test_a_regression_reads_numbers(files):
    test, named = read_evaluation(EvaluationSources(str(files / "test.csv")), DataSettings(), head="regression")
    assert (test.labels, named) == ([1.0, 2.0, 1.0], {})


def test_the_test_set_needs_labels(files):
    with pytest.raises(DataError, match="label"):
        read_evaluation(EvaluationSources(str(files / "table.csv")), DataSettings(), head="multi-class")


def test_what_is_read_is_what_is_measured(files):
    class FakeModel:
        head = "multi-class"

        def evaluate(self, test, ood, *, resamples, advance):
            advance(len(test))
            return {"test": test.texts, "ood": {name: part.texts for name, part in ood.items()}, "n": resamples}

    sources = EvaluationSources(str(files / "test.csv"), [str(files / "reviews.jsonl")])
    found = evaluate(FakeModel(), sources, DataSettings(limit=2), resamples=7)
    assert found == {"test": ["a", "b"], "ood": {"reviews": ["x", "y"]}, "n": 7}
