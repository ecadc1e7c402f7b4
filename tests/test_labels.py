import math
from decimal import Decimal

import numpy as np
import pytest

from masker.errors import DataError
from masker.labels import (
    LABEL_TYPES,
    as_class_name,
    as_label_list,
    as_number,
    class_indices,
    class_name,
    is_missing,
    label_matrix,
    label_type_of,
    plain_label,
)


@pytest.mark.parametrize(
    ("label", "name"),
    [
        (" spam ", "spam"),
        ("NA", "NA"),
        (3, "3"),
        (3.0, "3"),
        (2.5, "2.5"),
        (Decimal("4.0"), "4"),
        (True, "true"),
        (False, "false"),
    ],
)
def test_labels_that_name_a_class(label, name):
    assert as_class_name(label) == name
    assert not is_missing(label)


@pytest.mark.parametrize("label", [None, "", "  ", "nan", " NaN ", float("nan"), Decimal("NaN")])
def test_missing_labels(label):
    assert is_missing(label)
    assert as_class_name(label) is None
    assert as_number(label) is None


@pytest.mark.parametrize("label", [math.inf, ["x"], {"a": 1}, b"x"])
def test_labels_that_are_there_but_name_no_class(label):
    assert as_class_name(label) is None
    assert not is_missing(label)


@pytest.mark.parametrize(("label", "number"), [(1, 1.0), (" 3e0 ", 3.0), ("-2.5", -2.5), (Decimal("0.5"), 0.5)])
def test_numbers(label, number):
    assert as_number(label) == number


@pytest.mark.parametrize("label", [True, "1_0", "1,5", "good", "inf", -math.inf, 10**400, [1]])
def test_what_is_no_number(label):
    assert as_number(label) is None


def test_numpy_scalars_are_plain_values():
    assert plain_label(np.int64(3)) == 3 and type(plain_label(np.int64(3))) is int
    assert plain_label("x") == "x"
    assert [class_name(label) for label in np.array([1.0, 2.5])] == ["1", "2.5"]
    assert class_name(np.bool_(True)) == "true"
    with pytest.raises(DataError, match="label nan does not name a class; label the text or leave it out"):
        class_name(float("nan"))


@pytest.mark.parametrize(
    ("labels", "kind"), [(["a", "b"], "str"), ([1, 2], "int"), ([1.5], "float"), ([True], "bool"), ([1, "a"], "str")]
)
def test_the_type_of_labels(labels, kind):
    assert label_type_of(labels) == kind


@pytest.mark.parametrize("label", ["a", 7, 2.5, True, False])
def test_a_class_name_becomes_the_label_again(label):
    assert LABEL_TYPES[label_type_of([label])](as_class_name(label)) == label


def test_indices_of_classes():
    indices = class_indices(["b", " a ", "b"], ["a", "b"])
    assert indices.tolist() == [1, 0, 1]
    assert indices.dtype == np.int64
    assert class_indices(np.array([2, 1]), ["1", "2"]).tolist() == [1, 0]
    assert class_indices([], ["a"]).shape == (0,)


def test_a_label_outside_the_classes():
    with pytest.raises(DataError, match=r"label 'eggs' is not one of the model's classes \(a, b\)"):
        class_indices(["a", "eggs"], ["a", "b"])


def test_lists_of_labels():
    assert as_label_list(["b", 1, np.int64(2), "b"]) == ["1", "2", "b"]
    assert as_label_list([]) == []
    assert as_label_list("a;b") is None
    assert as_label_list(["a", ""]) is None


def test_label_matrix():
    assert label_matrix([["a"], [], ["c", "a"]], ["a", "b", "c"]).tolist() == [[1, 0, 0], [0, 0, 0], [1, 0, 1]]
    with pytest.raises(DataError, match="label 'd' is not one of the model's classes"):
        label_matrix([["d"]], ["a"])
    with pytest.raises(DataError, match="each text needs a list of labels, empty if it has none; got 'a'"):
        label_matrix(["a"], ["a"])


def test_type_of_the_labels_in_lists():
    assert label_type_of([[1, 2], [], [3]]) == "int"
    assert label_type_of([["a"], [3]]) == "str"
