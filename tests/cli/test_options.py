"""Shared options, and help in sections as a person sees it in a terminal of 80 columns."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import get_args

import click
import pytest
from click.testing import CliRunner

from masker.cli import cli
from masker.cli.options import BACKENDS, HEADS, SECTIONS, SectionedCommand, build_from_options, data_values
from masker.config import Head
from masker.errors import ConfigError
from masker.inference.backend import BackendName
from masker.modeling.embedded import EMBEDDED
from masker.registry import METHODS, SCORES
from tests.cli.command_line import Done, one_line, run, training_options, write_jsonl
from tests.conftest import make_corpus
from tests.fake_device import DEVICE, NAME, fake_device

FIXTURE = Path(__file__).parents[1] / "fixtures" / "masker-bert"
ORDER = ["Options", "Keywords", *list(SECTIONS)[1:-1], "Limits", list(SECTIONS)[-1]]


def commands(group: click.Group = cli, *words: str) -> dict[tuple[str, ...], click.Command]:
    found = {}
    for name, command in group.commands.items():
        found[(*words, name)] = command
        if isinstance(command, click.Group):
            found.update(commands(command, *words, name))
    return found


COMMANDS = commands()
every_command = pytest.mark.parametrize("words", COMMANDS, ids=" ".join)


def help_of(*words: str) -> str:
    # click leaves a margin of two columns, and reads no width where there is no terminal.
    done = CliRunner().invoke(cli, [*words, "--help"], terminal_width=80, prog_name="masker")
    assert done.exit_code == 0, done.output
    return done.output


def sections_of(text: str) -> dict[str, list[str]]:
    """The options, or commands, that each section of a help page lists."""
    found: dict[str, list[str]] = {}
    section = ""
    for line in text.splitlines():
        if heading := re.fullmatch(r"(\w+):", line):
            section = heading[1]
            assert section not in found, "a section appears once"
            found[section] = []
        elif entry := re.match(r"  (-h, --help|--[\w-]+)", line):
            assert section, f"an option before all sections: {line}"
            found[section].append(entry[1].removeprefix("-h, "))
    return found


@every_command
def test_a_page_fits_the_terminal_and_has_no_markup(words):
    text = help_of(*words)
    assert "\\b" not in text and "\b" not in text
    assert max(map(len, text.splitlines())) <= 80
    assert text.startswith(f"Usage: masker {' '.join(words)} ")


@every_command
def test_every_option_is_in_one_section_and_no_argument_is_an_option(words):
    command = COMMANDS[words]
    sections = sections_of(help_of(*words))
    assert [name for name in ORDER if name in sections] == [name for name in sections if name != "Commands"]
    listed = [name for names in sections.values() for name in names]
    options = [parameter for parameter in command.params if isinstance(parameter, click.Option)]
    assert sorted(listed) == sorted(["--help", *(parameter.opts[0] for parameter in options)])
    arguments = [parameter for parameter in command.params if isinstance(parameter, click.Argument)]
    usage = help_of(*words).splitlines()[0]
    assert all((argument.metavar or str(argument.name).upper()) in usage for argument in arguments)


@every_command
def test_every_option_says_what_it_does(words):
    """Not only its default."""
    for parameter in COMMANDS[words].params:
        if isinstance(parameter, click.Option):
            assert parameter.help and not parameter.help.startswith("["), parameter.name


@pytest.mark.parametrize("group", [(), ("data",)], ids=["masker", "masker data"])
def test_no_command_is_described_by_half_a_sentence(group):
    lines = help_of(*group).partition("Commands:\n")[2].splitlines()
    assert len(lines) == len([words for words in COMMANDS if words[:-1] == group])
    for line in lines:
        assert not line.endswith("...") and line.endswith("."), line


def test_common_sections_come_first():
    assert list(sections_of(help_of("train"))) == ["Options", "Data", "Training", "Detection", "Advanced"]
    first = ["--output", "--restart", "--keep-examples", "--plan", "--no-report", "--help"]
    assert sections_of(help_of("train"))["Options"] == first
    assert sections_of(help_of("train"))["Training"][:3] == ["--method", "--backbone", "--preset"]
    assert list(sections_of(help_of("predict"))) == ["Options", "Data", "Detection", "Advanced"]


def test_sections_order_their_options_and_take_the_rest_into_the_first():
    @click.command(cls=SectionedCommand)
    @click.argument("data")
    @click.option("--seed", help="A seed.")
    @click.option("--own", help="Its own.")
    @click.option("--method", help="A method.")
    def command(**options):
        """Do it."""

    text = CliRunner().invoke(command, ["--help"]).output
    assert sections_of(text) == {"Options": ["--own", "--help"], "Training": ["--method", "--seed"]}


def test_choices_are_those_of_the_settings():
    assert get_args(Head) == HEADS
    assert get_args(BackendName) == BACKENDS
    text = " ".join(run("train", "--help").stdout.split())
    assert all(name in text for name in METHODS)


def test_help_names_every_embedded_backbone():
    text = " ".join(help_of("train").split())
    assert f"Encoder to fine-tune: {', '.join(EMBEDDED)}, or" in text


def test_help_names_every_kind_of_score():
    text = " ".join(run("train", "--help").stdout.split())
    for option in ("--score", "--false-alarm-rate", "--confidence", "--class-conditional", "--ood-examples"):
        assert option in text
    named = ("auto", "max-prob", "energy", "mahalanobis", "knn")
    assert all(name in text for name in named) and set(named) <= {"auto", *SCORES}


def test_defaults_in_the_help_are_the_real_ones():
    from masker.config import build_settings

    text, settings = " ".join(help_of("train").split()), build_settings()
    assert f"Documents per batch, over all processes. [default: {settings.training.batch_size}]" in text
    assert settings.training.learning_rate == 1e-4 and "Of the encoder. [default: 1e-4]" in text
    assert f"Tokens of a document that are read. [default: {settings.model.max_length}]" in text
    assert f"Random seed. [default: {settings.training.seed}]" in text
    assert f"or one of the hub or your own. [default: {settings.model.backbone}]" in text
    assert f"or a file of words. [default: {settings.keywords.source}]" in text
    assert "or a file of words. [default: frequency]" in " ".join(help_of("keywords").split())
    assert f"or {settings.detection.false_alarm_rate}]" in text


DATA = {"text_column": "body", "pair_column": None, "label_column": "topic", "encoding": None, "limit": 3,
        "where": ("genre=a,b", "lang=en"), "skip_invalid": True}  # fmt: skip


def test_data_values_take_their_options_out():
    options = {**DATA, "device": "cpu"}
    assert data_values(options) == {
        "text_column": "body", "text_pair_column": None, "label_column": "topic", "encoding": None, "limit": 3,
        "where": {"genre": ["a", "b"], "lang": ["en"]}, "skip_invalid": True,
    }  # fmt: skip
    assert options == {"device": "cpu"}


def test_settings_from_options():
    unset = dict.fromkeys(
        ("head", "backbone", "max_length", "attention_model", "epochs", "batch_size", "learning_rate", "config")
    )
    options = {**DATA, **unset, "keywords": "frequency", "method": "vanilla", "seed": 7, "preset": "ood",
               "overrides": ("training.epochs=9", "detection.score=energy")}  # fmt: skip
    settings = build_from_options(dict(options), detection={"score": "knn", "false_alarm_rate": 0.2})
    assert (settings.data.text_column, settings.data.limit, settings.keywords.source) == ("body", 3, "frequency")
    assert (settings.training.method, settings.training.seed, settings.epochs) == ("vanilla", 7, 9)
    assert settings.model.backbone == "minilm" and settings.masking.context == "mask", "default, and preset"
    assert (settings.detection.score, settings.detection.false_alarm_rate) == ("energy", 0.2), "--set wins"
    with pytest.raises(ConfigError, match="preset must be one of ood, cross-domain; got 'odd'"):
        build_from_options({**options, "preset": "odd"})


# --- devices ---------------------------------------------------------------------------------------------------------

DEVICE_COMMANDS = [
    words for words, command in COMMANDS.items() if any(parameter.name == "device" for parameter in command.params)
]


def typed(words: tuple[str, ...], *options: str) -> Done:
    """A command with made-up arguments."""
    arguments = [parameter for parameter in COMMANDS[words].params if parameter.required]
    made_up = ["1" if isinstance(parameter.type, click.IntRange) else "x" for parameter in arguments]
    values = [
        (value,) if isinstance(parameter, click.Argument) else (parameter.opts[0], value)
        for parameter, value in zip(arguments, made_up, strict=True)
    ]
    return run(*words, *(word for value in values for word in value), *options)


def test_every_command_that_runs_a_network_takes_a_device():
    needed = {"demo", "train", "predict", "evaluate", "calibrate", "keywords", "audit"}
    assert needed <= {words[-1] for words in DEVICE_COMMANDS}


@pytest.mark.parametrize("words", DEVICE_COMMANDS, ids=" ".join)
def test_a_device_that_is_not_there_is_refused_before_anything_is_read(words, monkeypatch, tmp_path):
    import torch

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    line = one_line(typed(words, "--device", "gpu"))
    assert line == "masker: device must be auto, cpu, cuda, cuda:N or mps; got 'gpu'"
    line = one_line(typed(words, "--device", "cuda:2"))
    assert line == "masker: device 'cuda:2' is not on this machine, which has 2 CUDA devices; use --device auto"
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def typed_data(tmp_path):
    return str(write_jsonl(tmp_path / "data.jsonl", *make_corpus(45, seed=4)))


@pytest.mark.parametrize("name", ["predict", "evaluate", "calibrate"])
def test_a_model_is_opened_on_the_device(name, typed_data, tmp_path, monkeypatch):
    asked = fake_device(monkeypatch)
    model = shutil.copytree(FIXTURE, tmp_path / "model")
    done = run(name, str(model), typed_data, "--device", NAME)
    assert done.returncode == 0, done.stderr
    assert asked == [NAME, NAME], "checked by the option, taken by the model"


def test_a_model_is_trained_on_the_device(typed_data, tmp_path, monkeypatch, tiny_backbones):
    asked = fake_device(monkeypatch)
    options = [*training_options(tiny_backbones["bert"]), "--method", "vanilla", "--epochs", "1", "--device", NAME]
    done = run("train", typed_data, "--output", str(tmp_path / "model"), *options)
    assert done.returncode == 0, done.stderr
    assert set(asked) == {NAME, str(DEVICE)}


def test_keywords_are_read_on_the_device(typed_data, monkeypatch):
    asked = fake_device(monkeypatch)
    options = ["--attention-model", str(FIXTURE), "--backbone", str(FIXTURE), "--device", NAME]
    done = run("keywords", typed_data, *options)
    assert done.returncode == 0, done.stderr
    assert asked[:2] == [NAME, NAME] and set(asked) <= {NAME, str(DEVICE)}
