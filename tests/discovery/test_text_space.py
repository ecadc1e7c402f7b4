"""Where texts are compared."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from masker.discovery.text_space import TextSpace, neighbour_share, telling_kinds


def test_each_kind_counts_alike_whatever_its_size():
    """(3, 4) − (0, 0) has length 5, (1, 11) − (1, 1) length 10: directions (0.6, 0.8) and (0, 1), each over √2."""
    space = TextSpace({"cls": np.zeros(2), "middle": np.ones(2)})
    joined = space.join({"cls": np.array([[3.0, 4.0]]), "middle": np.array([[1.0, 11.0]])})
    np.testing.assert_allclose(joined, np.array([[0.6, 0.8, 0, 1]]) / np.sqrt(2), rtol=1e-6)
    assert np.isclose(np.linalg.norm(joined), 1)


def test_a_text_in_the_very_middle_has_no_direction():
    space = TextSpace({"cls": np.ones(2)})
    assert space.join({"cls": np.ones((1, 2))}).tolist() == [[0, 0]]


def test_groups_are_found_by_the_kinds_that_tell():
    """Of (0.6, 0.8, 0, 1)/√2, the first kind is (0.6, 0.8) and the second (0, 1)."""
    vectors = np.array([[0.6, 0.8, 0, 1]], dtype=np.float32) / np.sqrt(2)
    middles = {"cls": np.zeros(2), "middle": np.zeros(2)}
    np.testing.assert_allclose(TextSpace(middles, ("cls",)).telling_part(vectors), [[0.6, 0.8]], rtol=1e-6)
    np.testing.assert_allclose(TextSpace(middles, ("middle",)).telling_part(vectors), [[0, 1]], rtol=1e-6)
    assert TextSpace(middles).telling_part(vectors) is vectors


def test_neighbours_of_the_same_class_by_hand():
    """Directions 0°, 10°, 80°, 90° and 95° of classes 0, 0, 1, 0 and 1; lengths do not matter.

    The nearest of 0° and 10° is the other, of 80° it is 90°, and 90° and 95° are nearest to each other: 2 of 5.
    """
    angles = np.deg2rad([0.0, 10.0, 80.0, 90.0, 95.0])
    vectors = np.stack([np.cos(angles), np.sin(angles)], axis=1) * np.array([[1.0], [2.0], [3.0], [1.0], [9.0]])
    assert neighbour_share(vectors, np.array([0, 0, 1, 0, 1])) == 0.4
    assert neighbour_share(vectors[:1], np.array([0])) == 1.0


def test_layers_that_mix_up_the_known_classes_do_not_count():
    labels = np.repeat([0, 1], 20)
    noise = np.random.default_rng(0).standard_normal((40, 8))
    clear = noise + 9.0 * labels[:, None]
    moments = {kind: SimpleNamespace(mean=np.zeros(8)) for kind in ("cls", "middle")}

    def statistics(cls, middle):
        return SimpleNamespace(moments=moments, bank={"cls": cls, "middle": middle}, bank_labels=labels)

    centred = clear - clear.mean(axis=0)
    assert telling_kinds(statistics(centred, noise)) == ("cls",)
    assert telling_kinds(statistics(centred, centred[:, ::-1])) == ("cls", "middle")
    assert telling_kinds(statistics(noise, centred)) == ("cls", "middle"), "the last layer always counts"
    alone = SimpleNamespace(moments={"cls": moments["cls"]}, bank={"cls": noise}, bank_labels=labels)
    assert telling_kinds(alone) == ("cls",)
