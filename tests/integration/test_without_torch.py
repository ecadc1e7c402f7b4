"""The base install: an exported model is opened, asked, measured and calibrated where no optional package is.

Processes refuse to import any of them, so that a forgotten import anywhere on the way is an error.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import pytest

from masker import Documents, Model
from masker.extras import EXTRAS
from tests.conftest import make_corpus

FIXTURES = Path(__file__).parent.parent / "fixtures"
REFUSED = sorted({*EXTRAS, "pandas", "joblib"})
BACKENDS = ("onnx", "onnx-int8")
TEXTS, LABELS = make_corpus(48, seed=3)
STRANGE = ["zzz qqq", "", "what is the capital of France?"]

_REFUSE = f"""
import sys

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {REFUSED!r}:
            raise ModuleNotFoundError(f"No module named '{{name}}'", name=name)

sys.meta_path.insert(0, Refuse())
"""
#: What is asked of a model; the answers are JSON.
_ASK = """
import json
from dataclasses import asdict

def answers(model, texts, labels, strange):
    from masker import Documents

    judged = model.judge(texts)
    report = model.evaluate(Documents(texts, None, labels, "test"), {"odd": Documents(strange, None, None, "odd")},
                            resamples=5)
    report.pop("provenance")
    fresh = model.calibrate(texts, labels, score="auto", statistics=(texts, labels))
    return json.loads(json.dumps({
        "predictions": [asdict(row) for row in model.predict([*texts, *strange])],
        "judged": [None if values is None else values.tolist() for values in judged],
        "report": report,
        "calibrated": [asdict(row) for row in fresh.predict(strange)],
        "detector": fresh.describe_detector(),
    }))
"""


def run_refusing(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python code in a process in which optional packages cannot be imported."""
    path = os.pathsep.join(entry for entry in sys.path if entry)
    environment = {**os.environ, "PYTHONPATH": path}
    return subprocess.run(
        [sys.executable, "-c", _REFUSE + code, *arguments],
        capture_output=True, text=True, check=False, env=environment,
    )  # fmt: skip


def masker(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run a command of the command line in such a process."""
    return run_refusing("from masker.cli import main; main()", *map(str, arguments))


@pytest.fixture(scope="module")
def served(tmp_path_factory) -> Path:
    """A folder with both graphs and without weights."""
    from masker.export import export_onnx

    return export_onnx(FIXTURES / "masker-bert", int8=True, output=tmp_path_factory.mktemp("served") / "model").folder


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> Path:
    file = tmp_path_factory.mktemp("data") / "texts.jsonl"
    rows = [{"text": text, "label": label} for text, label in zip(TEXTS, LABELS, strict=True)]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


def test_the_same_answers_with_and_without(served):
    """Bit for bit: predictions, judgement, evaluation, and a calibration that chooses its score anew."""
    code = _ASK + (
        "from masker import Model\n"
        "folder, texts, labels, strange = json.loads(sys.argv[1])\n"
        f"found = {{name: answers(Model.open(folder, name), texts, labels, strange) for name in {BACKENDS!r}}}\n"
        "assert not set(sys.modules) & {'torch', 'transformers', 'sklearn'}\n"
        "print(json.dumps(found))\n"
    )
    done = run_refusing(code, json.dumps([str(served), TEXTS, LABELS, STRANGE]))
    assert done.returncode == 0, done.stderr
    without = json.loads(done.stdout)

    import torch  # noqa: F401
    import transformers  # noqa: F401

    namespace: dict = {}
    exec(_ASK, namespace)
    for name in BACKENDS:
        assert without[name] == namespace["answers"](Model.open(served, name), TEXTS, LABELS, STRANGE), name
    assert without["onnx"] != without["onnx-int8"]


def test_predict(served, data):
    done = masker("predict", served, data, "--backend", "onnx-int8", "--device", "cpu")
    assert done.returncode == 0, done.stderr
    expected = Model.open(served, "onnx-int8").predict(TEXTS)
    assert [json.loads(line) for line in done.stdout.splitlines()] == [asdict(row) for row in expected]


def test_evaluate(served, data):
    done = masker("evaluate", served, data, "--resamples", "3")
    assert done.returncode == 0, done.stderr
    report = Model.open(served).evaluate(Documents(TEXTS, None, LABELS, str(data)), resamples=3)
    assert f"{report['classification']['accuracy']['value']:.4f}" in done.stdout


def test_calibrate_and_keywords(served, data, tmp_path):
    folder = shutil.copytree(served, tmp_path / "model")
    done = masker("calibrate", folder, data, "--false-alarm-rate", "0.25")
    assert done.returncode == 0, done.stderr
    model = Model.open(folder)
    assert model.settings.detection.false_alarm_rate == 0.25
    assert model.predict(STRANGE) == Model.open(served).calibrate(TEXTS, LABELS, false_alarm_rate=0.25).predict(STRANGE)
    keywords = masker("keywords", folder, "--json")
    assert keywords.returncode == 0, keywords.stderr
    assert json.loads(keywords.stdout)["keywords"]


def test_monitor(served, data, tmp_path):
    done = masker("monitor", served, data, "--json", "--state", tmp_path / "state.json")
    assert done.returncode in (0, 3), done.stderr
    assert json.loads(done.stdout)["observed"] == len(TEXTS) and (tmp_path / "state.json").exists()


@pytest.mark.parametrize("words", [["discover", "--all"], ["review", "--budget", "3"]], ids=["discover", "review"])
def test_groups_take_scikit_learn_but_no_torch(data, tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    allowed = {"sklearn", "joblib"}
    code = f"allowed, refuse = {allowed!r}, Refuse.find_spec\n"
    code += "Refuse.find_spec = lambda self, name, *more: (\n"
    code += "    None if name.partition('.')[0] in allowed else refuse(self, name))\n"
    code += "from masker.cli import main; main()"
    command, *options = words
    done = run_refusing(code, command, str(FIXTURES / "exported-bert"), str(data), *options)
    assert done.returncode == 0, done.stderr
    assert "texts" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "needs", "extra"),
    [
        (["train", "DATA", "--output", "TARGET"], "training needs torch", "train"),
        (["predict", "WEIGHTS", "DATA"], "backend torch needs torch", "train"),
        (["predict", "LINEAR", "DATA"], "a linear classifier, which has no network to export, needs torch", "train"),
        (["export", "WEIGHTS"], "exporting needs onnx", "onnx"),
        (["predict", "SERVED", "texts.parquet"], "a Parquet file needs pyarrow", "parquet"),
        (["monitor", "SERVED", "DATA", "--plot", "drift.svg"], "--plot needs matplotlib", "report"),
        (["discover", "SERVED", "DATA", "--output", "groups"], "grouping texts needs sklearn", "train"),
        (["review", "SERVED", "DATA", "--budget", "3"], "grouping texts needs sklearn", "train"),
        (["extend", "SERVED", "DATA"], "extending a model needs torch", "train"),
    ],
    ids=["train", "torch", "linear", "export", "parquet", "plot", "discover", "review", "extend"],
)  # fmt: skip
def test_what_needs_more_says_so_in_one_line(served, data, tmp_path, monkeypatch, arguments, needs, extra):
    monkeypatch.chdir(tmp_path)
    Path("texts.parquet").write_bytes(b"PAR1")
    places = {"DATA": data, "TARGET": "model", "WEIGHTS": FIXTURES / "masker-bert", "SERVED": served}
    places["LINEAR"] = FIXTURES / "linear-roberta"
    done = masker(*(places.get(argument, argument) for argument in arguments))
    assert done.returncode == 2, done.stderr
    message = done.stderr.splitlines()[-1]
    assert message.startswith(f"masker: {needs} (")
    assert f"); install it with pip install 'masker[{extra}]'" in message
    assert "Traceback" not in done.stderr and not done.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["texts.parquet"], "nothing half-written"
