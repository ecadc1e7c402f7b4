"""Sizes of environments, turns of starting, and the page made of them."""

from __future__ import annotations

from importlib.metadata import distribution

import pytest

from benchmarks.deployment import _applies, deployment_section, needed_names, size_of, take_turns


def test_serving_needs_no_training_package():
    small, large = needed_names(("serve",)), needed_names(("serve", "train"))
    assert {"numpy", "onnxruntime", "tokenizers", "fastapi", "uvicorn", "starlette"} <= small
    assert not small & {"torch", "transformers", "scikit-learn", "datasets", "accelerate", "pandas", "pyarrow"}
    assert small < large
    assert {"torch", "transformers", "pyarrow"} <= large, "also what an extra of masker brings"


@pytest.mark.parametrize(
    ("line", "extra", "expected"),
    [
        ("a>=1", "", True),
        ("a>=1", "x", False),
        ("a; extra == 'x'", "x", True),
        ("a; extra == 'x'", "", False),
        ("a; python_version < '3'", "", False),
    ],
)
def test_which_lines_count(line, extra, expected):
    assert _applies(line, extra) is expected


def test_the_size_of_packages():
    found = size_of([distribution("click"), distribution("numpy")])
    assert found["packages"] == 2 and list(found["largest"]) == ["numpy", "click"]
    assert found["mb"] >= found["largest"]["numpy"] > 10


def test_the_first_turn_does_not_count_but_its_memory_does():
    answers = {"a": iter([(9.0, 3000), (1.0, 2000), (3.0, 1000)]), "b": iter([(9.0, 1), (2.0, 1), (2.0, 1)])}
    order = []

    def case(name):
        def start():
            order.append(name)
            return next(answers[name])

        return start

    found = take_turns({name: case(name) for name in answers}, 2)
    assert order == ["a", "b"] * 3
    assert found["a"] == {"seconds": 2.0, "low": 1.0, "high": 3.0, "peak_mb": 3}


def test_the_page():
    start = {"seconds": 1.234, "low": 1.0, "high": 1.5, "peak_mb": 227}
    size = {"packages": 45, "mb": 1381, "largest": {"scipy": 143, "numpy": 71}}
    results = {"small": size, "large": size, "start": dict.fromkeys(("small", "with torch imported", "torch"), start)}
    page = deployment_section(results)
    assert "| `masker[serve]` | 1,381 MB in 45 packages | scipy 143, numpy 71 |" in page
    assert page.count("| 1.23 (1.00 – 1.50) s | 227 MB |") == 3
