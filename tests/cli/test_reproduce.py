"""``masker reproduce``: what it parses, lists and refuses. Whole runs are in tests/experiments/test_reproduce.py."""

from __future__ import annotations

import click
import pytest
from click.testing import CliRunner

from masker.cli import cli
from masker.cli.reproduce import parse_seeds
from masker.errors import ConfigError


def command(*arguments: str):
    return CliRunner().invoke(cli, ["reproduce", *arguments], standalone_mode=False)


@pytest.mark.parametrize(
    ("text", "seeds"), [(None, []), ("0", [0]), ("0,2,5", [0, 2, 5]), ("0..3", [0, 1, 2, 3]), ("7, 1..2", [7, 1, 2])]
)
def test_seeds(text, seeds):
    assert parse_seeds(None, None, text) == seeds


@pytest.mark.parametrize("text", ["3..1", "a", "1,", "-1", "", "1.."])
def test_what_is_not_a_list_of_seeds(text):
    with pytest.raises(click.BadParameter, match="is not a list of seeds; write 0 or 0,2,5 or"):
        parse_seeds(click.Context(cli), click.Option(["--seeds"]), text)


def test_the_recipes_are_listed_without_loading_a_network():
    assert "| ood-main " in command("--list").stdout


def test_a_dry_run_writes_nothing(tmp_path, monkeypatch):
    monkeypatch.delenv("MASKER_DATA", raising=False)
    arguments = ("nli", "--dry-run", "--only", "system=vanilla", "--seeds", "3", "--output", str(tmp_path / "out"))
    done = command(*arguments, "--scale", "paper", "--backbone", "BERT")
    assert done.exception is None
    assert done.stdout.startswith("train vanilla · Telephone · bert-base-uncased · seed 3\n")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((), click.UsageError, "name a recipe"),
        (("ood-mein",), ConfigError, "Did you mean 'ood-main'"),
        (("nli", "--engine", "abacus"), ConfigError, "engine must be one of local, ray"),
        (("nli", "--device", "gpu"), ConfigError, "device must be auto, cpu"),
        (("nli", "--set", "training.seed=1", "--dry-run"), ConfigError, "use --seeds instead"),
    ],
)
def test_bad_input_is_refused_before_any_work(arguments, error, message, tmp_path):
    done = command(*arguments, "--output", str(tmp_path / "out"))
    assert isinstance(done.exception, error) and message in str(done.exception)
    assert not (tmp_path / "out").exists()
