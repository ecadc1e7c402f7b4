"""Labels of data and outputs of models."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from masker.audit.labels import label_indices, output_names
from masker.documents import Documents
from masker.errors import DataError

NAMES = ["NEGATIVE", "POSITIVE"]


def labelled(*labels):
    return Documents(["text"] * len(labels), None, list(labels), "data")


@pytest.mark.parametrize(
    ("labels", "names", "indices"),
    [
        (("POSITIVE", "NEGATIVE"), NAMES, [1, 0]),
        (("positive", "Negative"), NAMES, [1, 0]),
        (("1", "0"), NAMES, [1, 0]),
        (("0", "2"), ["LABEL_0", "LABEL_1", "LABEL_2"], [0, 2]),
        (("1", "0"), ["1", "0"], [0, 1]),  # names come before places
        (("a", "A"), ["A", "a"], [1, 0]),  # names that differ in case only are told apart
    ],
)
def test_labels_mean_outputs(labels, names, indices):
    assert label_indices(labelled(*labels), names).tolist() == indices


@pytest.mark.parametrize(("labels", "shown"), [(("neg", "pos"), "'neg', 'pos'"), (("0", "2"), "'0', '2'")])
def test_unknown_labels_are_named(labels, shown):
    with pytest.raises(DataError) as error:
        label_indices(labelled(*labels), NAMES)
    message = str(error.value)
    assert shown in message and "'NEGATIVE', 'POSITIVE'" in message and "--labels" in message and "\n" not in message


def test_a_stray_number_does_not_make_places_of_names():
    with pytest.raises(DataError, match="the label '0' means no output"):
        label_indices(labelled("1", "2", "0"), ["1", "2", "3"])


def test_one_unknown_label_among_known_ones():
    with pytest.raises(DataError, match="the label 'neutral' means no output"):
        label_indices(labelled("positive", "neutral"), NAMES)


def test_documents_without_labels():
    with pytest.raises(DataError, match="has no labels"):
        label_indices(Documents(["a"], None, None, "data"), NAMES)


def test_names_of_outputs():
    config = SimpleNamespace(num_labels=2, id2label={0: "neg", 1: "pos"})
    assert output_names(config) == ["neg", "pos"]
    assert output_names(config, ["a", "b"]) == ["a", "b"]
    for wrong in (["a"], ["a", "b", "c"], ["a", "a"]):
        with pytest.raises(DataError, match="--labels must name the 2 outputs"):
            output_names(config, wrong)
