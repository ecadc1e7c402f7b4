"""Sizes of environments, turns of starting, and the page made of them."""

from __future__ import annotations

from importlib.metadata import distribution

import pytest

from benchmarks.deployment import Start, _applies, deployment_section, needed_names, size_of, take_turns


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


def test_the_first_turn_does_not_count_and_ratios_are_of_one_turn():
    answers = {
        "a": iter([Start(9.0, 9.0, 9000), Start(1.0, 0.5, 2000), Start(2.0, 0.5, 1000)]),
        "b": iter([Start(9.0, 9.0, 9000), Start(2.0, 1.0, 3000), Start(6.0, 2.0, 3000)]),
    }
    order = []

    def case(name):
        def start():
            order.append(name)
            return next(answers[name])

        return start

    found = take_turns({name: case(name) for name in answers}, 2)
    assert order == ["a", "b"] * 3
    both = {"ratio": 1.0, "low": 1.0, "high": 1.0}
    assert found["a"] == {"seconds": 1.5, "processor_seconds": 0.5, **both, "peak_mb": 2}
    ratios = {"ratio": 2.5, "low": 2.0, "high": 3.0}
    assert found["b"] == {"seconds": 4.0, "processor_seconds": 1.5, **ratios, "peak_mb": 3}


def test_the_page():
    start = {"seconds": 1.234, "processor_seconds": 0.9, "ratio": 3.5, "low": 3.0, "high": 4.0, "peak_mb": 227}
    size = {"packages": 45, "mb": 1381, "largest": {"scipy": 143, "numpy": 71}}
    results = {
        "small": size,
        "large": size,
        "start": {"small": {**start}, "with torch imported": start, "torch": start},
    }
    page = deployment_section(results)
    assert "| `masker[serve]` | 1,381 MB in 45 packages | scipy 143, numpy 71 |" in page
    assert page.count("| 3.50 (3.00 – 4.00) | 1.23 s | 0.90 s | 227 MB |") == 2
    assert page.count("| 1 | 1.23 s | 0.90 s | 227 MB |") == 1
