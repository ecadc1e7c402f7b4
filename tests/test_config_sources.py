"""Where settings come from: files and overrides, and errors that name what is wrong with them."""

from __future__ import annotations

import itertools
import re

import pytest

from masker.config import build_settings
from masker.config_sources import merge_layer, parse_override, parse_yaml, read_config_file
from masker.errors import ConfigError


def problems(**arguments):
    with pytest.raises(ConfigError) as caught:
        build_settings(**arguments)
    return str(caught.value).splitlines()


def test_merging_layers():
    into = {"training": {"seed": 1, "epochs": 2}}
    merge_layer(into, {"training": {"seed": 3, "epochs": None}, "loss": {"lambda_mer": None}})
    assert into == {"training": {"seed": 3, "epochs": 2}, "loss": {}}
    merge_layer(into, {"training": {"epochs": None}}, unset=True)
    assert into["training"] == {"seed": 3, "epochs": None}
    with pytest.raises(ConfigError, match="section 'training' must hold keys and values; got 3"):
        merge_layer(into, {"training": 3})


@pytest.mark.parametrize(
    ("override", "layer"),
    [
        ("loss.lambda_mer=1e-3", {"loss": {"lambda_mer": 0.001}}),
        ("training.epochs=null", {"training": {"epochs": None}}),
        ("keywords.source=", {"keywords": {"source": None}}),
        ("model.backbone=a: b: c", {"model": {"backbone": "a: b: c"}}),
        ("data.where={genre: [a, b]}", {"data": {"where": {"genre": ["a", "b"]}}}),
    ],
)
def test_parsing_an_override(override, layer):
    assert parse_override(override) == layer


def test_reading_a_file(tmp_path):
    (tmp_path / "run.yaml").write_text("training: {seed: 2}\n")
    assert read_config_file(tmp_path / "run.yaml", ["training"]) == {"training": {"seed": 2}}
    (tmp_path / "list.yaml").write_text("[1, 2]")
    with pytest.raises(ConfigError, match=r"list.yaml' must hold sections \(training, loss\)"):
        read_config_file(tmp_path / "list.yaml", ["training", "loss"])


def test_json_and_empty_files(tmp_path):
    (tmp_path / "run.json").write_text('{"training": {"learning_rate": 1e-3}}')
    assert build_settings(config_file=tmp_path / "run.json").training.learning_rate == 1e-3
    (tmp_path / "empty.yaml").write_text("# nothing yet\n")
    assert build_settings(config_file=str(tmp_path / "empty.yaml")) == build_settings()


def test_scientific_notation_in_yaml(tmp_path):
    (tmp_path / "run.yaml").write_text("training: {learning_rate: 1e-3}")
    assert build_settings(config_file=tmp_path / "run.yaml").training.learning_rate == 1e-3


@pytest.mark.parametrize(
    ("override", "section", "key", "value"),
    [
        ("loss.lambda_mer=1e-3", "loss", "lambda_mer", 1e-3),
        ("loss.lambda_mer=0.25", "loss", "lambda_mer", 0.25),
        (" loss.lambda_mer =2", "loss", "lambda_mer", 2.0),
        ("data.skip_invalid=true", "data", "skip_invalid", True),
        ("training.report_to=[tensorboard, wandb]", "training", "report_to", ["tensorboard", "wandb"]),
        ("keywords.source=words.txt", "keywords", "source", "words.txt"),
        ("model.backbone=org/name=x", "model", "backbone", "org/name=x"),
        ("keywords.source='my words.txt'", "keywords", "source", "my words.txt"),
        ("keywords.source= words.txt", "keywords", "source", "words.txt"),
    ],
)
def test_override_values(override, section, key, value):
    settings = build_settings(overrides=[override])
    assert getattr(getattr(settings, section), key) == value


@pytest.mark.parametrize("override", ["loss.lambda_mer", "lambda_mer=1", "loss.=1", "=1", ""])
def test_override_of_the_wrong_form(override):
    (line,) = problems(overrides=[override])
    assert line.startswith("--set takes section.key=value")
    assert f"'{override}'" in line


def test_section_that_is_no_mapping(tmp_path):
    (tmp_path / "run.yaml").write_text("training: 3")
    (line,) = problems(config_file=tmp_path / "run.yaml")
    assert "'training'" in line


@pytest.mark.parametrize("content", [b"training: {seed: 1", b"a:\n\t- b", b"\xff\xfe\x00"])
def test_bad_yaml_is_one_line(content, tmp_path):
    (tmp_path / "run.yaml").write_bytes(content)
    (line,) = problems(config_file=tmp_path / "run.yaml")
    assert "run.yaml' is not YAML or JSON" in line


@pytest.mark.parametrize("content", ["- a\n- b", "just text", "3"])
def test_file_without_sections(content, tmp_path):
    (tmp_path / "run.yaml").write_text(content)
    (line,) = problems(config_file=tmp_path / "run.yaml")
    assert "must hold sections" in line


def test_yaml_cannot_make_python_objects(tmp_path):
    (tmp_path / "run.yaml").write_text("training: !!python/object/apply:os.getcwd []")
    (line,) = problems(config_file=tmp_path / "run.yaml")
    assert "not YAML or JSON" in line


def test_missing_file(tmp_path):
    (line,) = problems(config_file=tmp_path / "none.yaml")
    assert "none.yaml' does not exist" in line


def test_folder_in_place_of_a_file(tmp_path):
    (line,) = problems(config_file=tmp_path)
    assert "config file" in line


BOMB = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 10)}]\n" for before, name in itertools.pairwise("abcdefghij")
)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (BOMB, "with its references it has more than 100,000 values"),
        ("model: &m {backbone: *m}", "with its references it has more than 100,000 values"),
        ("model: " + "[" * 2000, "it is nested too deeply"),
        ("model: {backbone: 2020-99-99}", "month must be in 1..12"),
        ("training: {seed: " + "9" * 400 + "}", "an integer with hundreds of digits"),
        ("training: {seed: " + "9" * 5000 + "}", "digits"),
        ("model: !!python/object/apply:os.system [id]", "could not determine a constructor"),
    ],
)
def test_yaml_that_is_not_meant_well(tmp_path, text, reason):
    (tmp_path / "config.yaml").write_text(text)
    with pytest.raises(ConfigError, match=re.escape(reason)) as caught:
        read_config_file(tmp_path / "config.yaml", [])
    assert "\n" not in str(caught.value)


def test_references_are_welcome_as_long_as_they_stay_few():
    assert parse_yaml("a: &a [1, 2]\nb: *a") == {"a": [1, 2], "b": [1, 2]}


@pytest.mark.parametrize("value", ["[" * 5000, "9" * 5000])
def test_an_override_that_is_no_yaml_is_a_word(value):
    assert parse_override(f"model.backbone={value}") == {"model": {"backbone": value}}


def test_a_wrong_value_is_repeated_in_part():
    (problem,) = problems(overrides=[f"training.seed={'x' * 10_000}"])
    assert len(problem) < 400 and problem.endswith("xxx…")
