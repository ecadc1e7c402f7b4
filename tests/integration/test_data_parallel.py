"""Two processes do what one does: same steps, same losses, same weights, same keywords.

Dropout is off in these encoders. With it each process draws masks of its own for its half of a batch, so two runs are
alike in distribution and not number for number; the views are drawn for each document and do not depend on this.
What is left are rounding errors: a process pads its half of a batch to its own longest row, and sums come in another
order. 57 training documents in batches of 8 leave a last batch of one, of which the second process gets nothing.
"""

from __future__ import annotations

import csv
import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from transformers import BertModel

from masker import MaskerClassifier
from tests.conftest import make_corpus
from tests.integration import data_parallel

TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2"]
STEPS = 8  # of an epoch


def launch(launcher: list[str], port_option: str, *command: str, check: bool = True) -> subprocess.CompletedProcess:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    root = Path(__file__).parents[2]
    paths = [str(root / "src"), str(root), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(paths)}
    done = subprocess.run(
        [*launcher, port_option, port, *command], capture_output=True, text=True, env=environment, timeout=300
    )
    assert not check or done.returncode == 0, done.stderr[-3000:]
    return done


@pytest.fixture(scope="module")
def still_backbone(tiny_backbones, tmp_path_factory) -> str:
    """The tiny BERT without dropout."""
    folder = tmp_path_factory.mktemp("still")
    for file in Path(tiny_backbones["bert"]).iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    model = BertModel.from_pretrained(folder)
    model.config.hidden_dropout_prob = model.config.attention_probs_dropout_prob = 0.0
    model.save_pretrained(folder)
    return str(folder)


@pytest.fixture(scope="module")
def scenarios(new_head_settings, tiny_settings, still_backbone) -> dict[str, dict]:
    texts, labels = make_corpus(63)
    documents = {"texts": texts, "pairs": None, "labels": labels, "name": "made up"}

    def settings(**sections):
        sections["model"] = {"backbone": still_backbone}
        sections["training"] = {"logging_steps": 1, "learning_rate": 5e-3, **sections.get("training", {})}
        return new_head_settings("bert", loss={"lambda_mkr": 0.1, "lambda_mer": 0.1}, **sections).model_dump()

    default = tiny_settings("bert", model={"backbone": still_backbone}, training={"epochs": None, "batch_size": 16})
    vanilla = {"settings": settings(training={"method": "vanilla"}), "documents": documents}
    accumulated = settings(
        training={"epochs": 1, "gradient_accumulation": 3, "batch_size": 5},
        masking={"context": "drop"},
        keywords={"source": "frequency"},
    )
    return {
        "vanilla": vanilla,
        "masker": {"settings": settings(), "documents": documents},
        "accumulated": {"settings": accumulated, "documents": documents},
        "resumed": {**vanilla, "cut": 1},
        "begun": {**vanilla, "cut": 1, "unfinished": True},
        "default": {"settings": default.model_dump(), "documents": documents, "fitted": True},
        "missing": {"settings": settings(), "missing": True},
    }


@pytest.fixture(scope="module")
def two(scenarios, tmp_path_factory) -> dict[str, list[dict]]:
    """What each of two processes found, for every scenario, from one launch."""
    folder = tmp_path_factory.mktemp("two")
    spec = folder / "spec.json"
    spec.write_text(json.dumps({"scenarios": scenarios, "output": str(folder)}))
    launch(TORCHRUN, "--master-port", data_parallel.__file__, str(spec))
    return {
        name: [
            {
                **json.loads((folder / name / f"result_{rank}.json").read_text()),
                "state": {} if name == "missing" else load_file(folder / name / f"weights_{rank}.safetensors"),
                "folder": folder / name,
            }
            for rank in (0, 1)
        ]
        for name in scenarios
    }


@pytest.fixture(scope="module")
def one(scenarios, tmp_path_factory):
    results: dict[str, dict] = {}

    def get(name: str) -> dict:
        if name not in results:
            train = data_parallel.fit if scenarios[name].get("fitted") else data_parallel.run
            results[name] = train(scenarios[name], tmp_path_factory.mktemp(f"one-{name}"))
        return results[name]

    return get


def logged(result: dict, name: str) -> list[float]:
    return [line[name] for line in result["lines"] if name in line]


def assert_same_weights(result: dict, expected: dict, atol: float) -> None:
    assert result["state"].keys() == expected["state"].keys()
    for name, tensor in expected["state"].items():
        if atol and name.endswith("key.bias"):
            continue  # a softmax does not feel it, so its gradient is rounding noise, which Adam makes large
        torch.testing.assert_close(result["state"][name], tensor, rtol=0, atol=atol, msg=name)


@pytest.mark.parametrize("name", ["vanilla", "masker", "accumulated"])
def test_two_processes_learn_what_one_does(two, one, name):
    """Adam does not see a loss scaled by a constant, so the logged losses and gradient norms are compared as well."""
    alone, (first, second) = one(name), two[name]
    for figure in ("loss", "grad_norm", "L_CE", "L_MKR", "L_MER", "learning_rate", "eval_loss", "eval_accuracy"):
        assert logged(first, figure) == pytest.approx(logged(alone, figure), rel=1e-4, abs=1e-6), figure
    # Attention keywords take a vanilla stage of as many epochs; those by frequency ("accumulated") take none.
    steps = {"vanilla": 2 * STEPS, "masker": 2 * STEPS + 2 * STEPS, "accumulated": 4}[name]
    assert len(logged(first, "loss")) == steps
    assert_same_weights(first, alone, atol=1e-5)
    assert_same_weights(second, first, atol=0)
    assert first["metric"] == second["metric"] == alone["metric"]


def test_two_processes_fit_the_folds_that_one_does(two, one):
    """The default: a probe to start from, five networks, their mean, and a detector calibrated on their answers."""
    alone, (first, second) = one("default"), two["default"]
    assert_same_weights(first, alone, atol=1e-4)
    assert_same_weights(second, first, atol=0)
    assert first["threshold"] == second["threshold"] == pytest.approx(alone["threshold"], rel=1e-2)
    assert first["metric"] == second["metric"] == alone["metric"]
    assert first["decisions"] == second["decisions"] == alone["decisions"]


def test_keywords_are_the_same_everywhere(two, one):
    alone, (first, second) = one("masker"), two["masker"]
    assert first["keywords"] == second["keywords"]
    assert [row["word"] for row in first["keywords"]["keywords"]] == [
        row["word"] for row in alone["keywords"]["keywords"]
    ]
    scores = [[row["score"] for row in result["keywords"]["keywords"]] for result in (first, alone)]
    assert scores[0] == pytest.approx(scores[1], rel=1e-5)


def test_a_run_of_two_processes_resumes(two):
    """Cut off after the first epoch, then started again: the second epoch alone is done, and the end is the same."""
    for rank in (0, 1):
        resumed, whole = two["resumed"][rank], two["vanilla"][rank]
        assert [line["begin"] for line in resumed["lines"] if "begin" in line] == list(range(STEPS, 2 * STEPS))
        assert_same_weights(resumed, whole, atol=0)


def test_what_two_processes_began_one_can_finish(scenarios, two, one):
    folder = two["begun"][0]["folder"]
    assert [path.name for path in sorted(folder.rglob("random_*"))] == ["random_0.json", "random_1.json"]
    finished = data_parallel.run(scenarios["vanilla"], folder)
    assert [line["begin"] for line in finished["lines"] if "begin" in line] == list(range(STEPS, 2 * STEPS))
    assert_same_weights(finished, one("vanilla"), atol=1e-5)


def test_an_error_of_the_first_process_is_everybodys(two):
    """Only the first process reads the data, and all processes went on to the end of the program afterwards."""
    messages = [result["message"] for result in two["missing"]]
    assert messages[0].startswith("'no-such-file.csv': there is no such file")
    assert messages == [messages[0]] * 2


@pytest.fixture
def train_command(still_backbone, tmp_path) -> list[str]:
    texts, labels = make_corpus(63)
    with (tmp_path / "data.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("text", "label"), *zip(texts, labels, strict=True)])
    options = f"--backbone {still_backbone} --method vanilla --epochs 1 --batch-size 8 --set training.precision=fp32"
    options += " --set detection.calibration=split"
    data, output = str(tmp_path / "data.csv"), str(tmp_path / "model")
    return ["-m", "masker", "train", data, "--output", output, *options.split()]


def test_command_line_writes_once_and_says_an_error_once(train_command, tmp_path):
    done = launch(TORCHRUN, "--master-port", *train_command)
    assert done.stdout.count("trained on 63 documents") == done.stdout.count("model:") == 1
    assert {path.name for path in tmp_path.iterdir()} == {"data.csv", "model", "model.report"}
    assert MaskerClassifier.load(tmp_path / "model").predict(["rocket orbit"]).shape == (1,)

    again = launch(TORCHRUN, "--master-port", *train_command, check=False)
    assert again.returncode != 0
    lines = [line for line in again.stderr.splitlines() if line.startswith("masker: ")]
    assert len(lines) == 1
    assert "already exists" in lines[0]
    assert "exitcode  : 2" in again.stderr


@pytest.mark.slow
def test_accelerate_launches_too(train_command, tmp_path):
    launcher = [sys.executable, "-m", "accelerate.commands.launch", "--multi_gpu", "--num_processes", "2"]
    done = launch(launcher, "--main_process_port", *train_command)
    assert done.stdout.count("trained on 63 documents") == 1
    assert (tmp_path / "model" / "masker.json").is_file()
