import numpy as np
import pytest

from masker.documents import (
    Documents,
    detection_split,
    in_distribution_classes,
    subsample,
    subsample_classes,
    validation_split,
)
from masker.errors import ConfigError, DataError


def documents(labels):
    return Documents([f"text {i}" for i in range(len(labels))], None, labels, "here")


def test_validation_split_is_stratified_seeded_and_complete():
    labels = ["a"] * 80 + ["b"] * 20
    train, validation = validation_split(labels, 0.1, seed=3)
    assert [sum(labels[i] == name for i in validation) for name in "ab"] == [8, 2]
    assert sorted(train + validation) == list(range(100))
    assert validation_split(labels, 0.1, seed=3) == (train, validation)
    assert validation_split(labels, 0.1, seed=4) != (train, validation)


def test_small_classes_together_give_their_share():
    """Ten classes of 5 at 0.1 owe half a row each: five rows in all, from five different classes."""
    labels = [f"class {i % 10}" for i in range(50)]
    _, validation = validation_split(labels, 0.1, seed=0)
    assert len(validation) == len({labels[i] for i in validation}) == 5


@pytest.mark.parametrize(
    ("sizes", "fraction", "keep_one"),
    [((1, 3, 6, 9), 0.1, False), ((2, 4, 9), 0.1, True), ((1,) * 8, 0.5, False), ((50, 1, 4, 4), 0.2, False)],
)
def test_all_rows_of_small_classes_are_equally_likely(sizes, fraction, keep_one):
    """Over 3,000 seeds the standard error of a share is below 1 point. A class of one keeps its row if it has to."""
    labels = [f"class {place}" for place, size in enumerate(sizes) for _ in range(size)]
    drawn = np.zeros(len(labels))
    for seed in range(3000):
        drawn[validation_split(labels, fraction, seed, keep_one=keep_one)[1]] += 1 / 3000
    small = np.repeat([int(fraction * size) == 0 for size in sizes], sizes)
    expected = round(fraction * small.sum()) / small.sum()
    np.testing.assert_allclose(drawn[small], expected, atol=0.04)


def test_classes_of_one_row_are_divided_where_none_must_stay():
    labels = [f"class {place}" for place in range(250)]
    assert validation_split(labels, 0.5, seed=0)[1] == []
    assert len(validation_split(labels, 0.5, seed=0, keep_one=False)[1]) == 125


@pytest.mark.parametrize("fraction", [0.01, 0.5, 0.99])
def test_every_class_keeps_a_training_document(fraction):
    labels = ["one"] + ["two"] * 2 + ["many"] * 7
    train, validation = validation_split(labels, fraction, seed=1)
    assert {labels[i] for i in train} == {"one", "two", "many"}
    assert validation
    assert 0 in train


def test_singletons_only_and_tiny_inputs():
    assert validation_split(["a", "b"], 0.5, seed=0) == ([0, 1], [])
    assert validation_split([], 0.5, seed=0) == ([], [])
    assert validation_split(["a"], 0.5, seed=0) == ([0], [])
    assert len(validation_split([0.5, 0.7], 0.01, seed=0)[1]) == 1


def test_scores_are_split_plainly():
    train, validation = validation_split([float(i) for i in range(50)], 0.2, seed=0)
    assert (len(train), len(validation)) == (40, 10)


@pytest.mark.parametrize("fraction", [0.0, 1.0, -1.0])
def test_fraction_out_of_range(fraction):
    with pytest.raises(ConfigError, match="strictly between 0 and 1; got"):
        validation_split(["a", "b"], fraction, seed=0)


def test_seeds_draw_different_classes_and_at_least_two():
    names = [f"c{i}" for i in range(20)]
    assert len({tuple(in_distribution_classes(names, 0.5, seed)) for seed in range(5)}) == 5
    assert len(in_distribution_classes(names, 0.01, seed=0)) == 2
    assert in_distribution_classes(names, 1.0, seed=0) == sorted(names)


@pytest.mark.parametrize(
    ("classes", "ratio", "count"),
    [(50, 0.1, 5), (50, 0.25, 12), (50, 0.5, 25), (50, 0.75, 37), (20, 0.1, 2), (20, 0.25, 5), (20, 0.5, 10),
     (24, 0.25, 6), (100, 0.29, 29)],
)  # fmt: skip
def test_the_share_of_classes_is_rounded_down(classes, ratio, count):
    """12 and 37 of 50 classes are the 25 and 75 % of Shu et al. (2017); 0.29 * 100 is 28.999999999999996 in floats."""
    assert len(in_distribution_classes([f"c{i}" for i in range(classes)], ratio, seed=0)) == count


def test_detection_split_draws_once_for_training_and_test():
    """The test part lacks class a and has a class z that training has not: the draw is from a, b, c, d all the same."""
    train = documents(["a", "b", "c", "d"] * 2)
    test = documents(["b", "c", "d", "z"])
    for seed in range(6):
        inside = in_distribution_classes("abcd", 0.75, seed)
        split = detection_split(train, test, 0.75, seed)
        assert split.train.class_names == inside
        assert len(split.train) == 6
        assert set(split.test.labels) == set(inside) & set("bcd")
        assert set(split.unseen.labels) == set("bcdz") - set(inside)


def test_detection_split_needs_a_test_document():
    with pytest.raises(DataError, match="here: has no document of the classes a, b of here"):
        detection_split(documents(["a", "b"]), documents(["z"]), 0.5, seed=0)


def test_a_draw_of_classes_refuses_nonsense():
    with pytest.raises(DataError, match="at least two classes; got 1: a"):
        in_distribution_classes(["a", "a"], 0.5, seed=0)
    with pytest.raises(ConfigError, match=r"above 0 and at most 1; got 1.5"):
        in_distribution_classes(["a", "b"], 1.5, seed=0)


def test_subsample_keeps_the_order():
    whole = documents([str(i) for i in range(100)])
    part = subsample(whole, 10, seed=0)
    numbers = [int(label) for label in part.labels]
    assert numbers == sorted(set(numbers))
    assert len(part) == 10
    assert subsample(whole, 10, seed=0) == part != subsample(whole, 10, seed=1)
    assert subsample(whole, 1000, seed=0) is whole
    with pytest.raises(ConfigError, match="at least 1; got 0"):
        subsample(whole, 0, seed=0)


def test_subsample_of_each_class_is_seeded_ordered_and_nested():
    whole = documents([*"aab" * 20, "rare"])
    five, ten, other = (subsample_classes(whole, count, seed) for count, seed in ((5, 1), (10, 1), (5, 2)))
    assert [five.labels.count(name) for name in ("a", "b", "rare")] == [5, 5, 1]
    places = [int(text.split()[1]) for text in five.texts]
    assert places == sorted(places) and [whole.labels[i] for i in places] == five.labels
    assert set(five.texts) < set(ten.texts)
    assert subsample_classes(whole, 5, 1) == five != other
    assert subsample_classes(whole, 40, 1) == whole
    with pytest.raises(ConfigError, match="from each class: must be at least 1; got 0"):
        subsample_classes(whole, 0, 1)
