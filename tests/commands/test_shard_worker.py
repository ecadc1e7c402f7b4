"""What a worker does with a shard, and the record that decides whether an output is kept."""

from __future__ import annotations

import json

import pytest

from masker.commands.predict_options import PredictOptions
from masker.commands.shard_files import Shard
from masker.commands.shard_worker import ShardJob, ShardResult, ShardWorker
from masker.config import DataSettings
from masker.errors import ConfigError, ModelError
from masker.files import folder_sha256
from masker.model import Model


def job_of(model, output, **options):
    return ShardJob(str(model), folder_sha256(model), str(output), DataSettings(), PredictOptions(**options))


def test_the_record_of_a_shard_keeps_its_form(tmp_path):
    """An output written by an earlier version stays valid: same keys, same order, no device among them."""
    source = tmp_path / "a.csv"
    source.write_text("text\nsoup\n")
    settings = DataSettings(text_column="text", limit=7, where={"lang": ["en"]})
    options = PredictOptions("csv", True, True, "onnx", "entropy", 0.01, device="cuda:1")
    job = ShardJob("/model", "m0del", "/out", settings, options)
    assert json.dumps(job.made_from(Shard(str(source), "a.csv"))) == (
        '{"model_sha256": "m0del", "backend": "onnx", '
        '"input_sha256": "93267465efacb1d8a2bf1022d646f28a6ffa1cb89f4ab8ee3026ae4bd62280df", '
        '"options": {"text_column": "text", "text_pair_column": null, "label_column": null, "encoding": "utf-8", '
        '"limit": 7, "where": {"lang": ["en"]}, "skip_invalid": false, "format": "csv", "with_text": true, '
        '"reject": true, "score": "entropy", "false_alarm_rate": 0.01}}'
    )


def test_a_confidence_makes_another_output(tmp_path):
    source = tmp_path / "a.csv"
    source.write_text("text\nsoup\n")
    jobs = (ShardJob("/m", "m", "/out", DataSettings(), PredictOptions(confidence=sure)) for sure in (None, 0, 0.9))
    options = [job.made_from(Shard(str(source), "a.csv"))["options"].get("confidence") for job in jobs]
    assert options == [None, 0, 0.9]


def test_a_failure_names_its_shard_once():
    shard = Shard("/in/a.csv", "a.jsonl")
    assert ShardResult.failure(shard, "no text column").message == "/in/a.csv: no text column"
    assert ShardResult.failure(shard, "/in/a.csv: line 2 is bad").message == "/in/a.csv: line 2 is bad"


def test_a_missing_input_is_a_result(shard_model, tmp_path):
    shard = Shard(str(tmp_path / "gone.csv"), "gone.jsonl")
    result = ShardWorker(job_of(shard_model, tmp_path / "out")).work(shard)
    assert (result.state, result.message) == ("failed", f"{shard.source}: No such file or directory")


def test_another_model_at_the_same_path_is_refused(shard_model, tmp_path):
    job = ShardJob(str(shard_model), "0" * 64, str(tmp_path / "out"), DataSettings(), PredictOptions())
    with pytest.raises(ModelError, match="is not the same model on all machines"):
        ShardWorker(job, threads=1).prepare()
    ShardWorker(job).prepare()  # in the process that took the fingerprint there is nothing to compare


def test_a_model_is_opened_once(shard_model, shard_folder, tmp_path, monkeypatch):
    from masker.commands import shard_worker as module

    opened = []
    load = module.open_with_options
    monkeypatch.setattr(module, "open_with_options", lambda *arguments: (opened.append(1), load(*arguments))[1])
    worker = ShardWorker(job_of(shard_model, tmp_path / "out"))
    worker.prepare()
    for name in ("a.parquet", "b.jsonl"):
        assert worker.work(Shard(str(shard_folder / name), f"{name[0]}.jsonl")).state == "predicted"
    assert opened == [1]


def test_options_that_do_not_fit_the_model_end_the_run(shard_model, tmp_path, monkeypatch):
    monkeypatch.setattr(Model, "is_regression", True)
    with pytest.raises(ConfigError, match="--reject"):
        ShardWorker(job_of(shard_model, tmp_path / "out", reject=True)).prepare()
