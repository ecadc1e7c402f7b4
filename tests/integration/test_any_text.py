"""Whatever text comes, from Python or through the command line: an answer of finite numbers, or one line."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from masker import MaskerError, Model
from tests.cli.command_line import run

FOLDER = Path(__file__).parent.parent / "fixtures" / "exported-bert"
ANY = st.text(st.characters() | st.sampled_from("אبن‏🚀👩‍👩‍👧é𝔘﻿\0\ud800 \n"), max_size=40)


@pytest.fixture(scope="module")
def model():
    return Model.open(FOLDER)


@settings(deadline=None)
@given(texts=st.lists(ANY, max_size=4))
@example(texts=[])
@example(texts=["", " ", "\0", "\ud800", "x" * 100_000])
def test_any_text_has_an_answer_of_finite_numbers(model, texts):
    try:
        answers = model.predict(texts)
    except MaskerError as error:
        assert "\n" not in str(error)  # noqa: PT017
        return
    assert len(answers) == len(texts)
    for answer in answers:
        assert answer.label in model.classes and 0 <= answer.confidence <= 1 and 0 <= answer.p_value <= 1
        assert math.isfinite(answer.ood_score) and answer.is_ood in (True, False)


@settings(deadline=None, max_examples=30)
@given(texts=st.lists(ANY.filter(str.strip), min_size=1, max_size=5))
def test_company_changes_no_answer(model, texts):
    together = model.judge(texts)
    for place, text in enumerate(texts):
        alone = model.judge([text])
        assert (
            alone.predicted[0] == together.predicted[place]
            or abs(alone.probabilities[0].max() - together.probabilities[place].max()) < 1e-5
        )
        assert alone.scores[0] == pytest.approx(together.scores[place], rel=1e-4, abs=1e-4)


@pytest.mark.parametrize("kind", [None, 3, b"bytes", ["a", "list"], float("nan")])
def test_what_is_no_text_is_refused(model, kind):
    with pytest.raises((MaskerError, TypeError)) as caught:
        model.predict(["a text", kind])
    assert "\n" not in str(caught.value)


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(st.characters(exclude_categories=("Cs",)), max_size=60))
@example(text='{"text": "a"}\n{"text": 3}\n{"text": null}')
@example(text='{"text": {"a": 1}}')
def test_any_standard_input_is_rows_or_one_line(text):
    done = run("predict", str(FOLDER), "-", text=text)
    assert "Traceback" not in done.stderr
    if done.returncode:
        assert done.returncode == 2 and done.stderr.splitlines()[-1].startswith("masker: "), done.stderr
    else:
        assert all(json.loads(line)["label"] for line in done.stdout.split("\n") if line)
