"""A folder of shards, in this process and on Ray: each into one file, once."""

from __future__ import annotations

import json
import os
import shutil
import signal
from contextlib import contextmanager
from pathlib import Path

import pytest

from masker.commands import predict_shards as shards_module
from masker.commands import shard_worker as worker_module
from masker.commands.predict import predict
from masker.commands.predict_options import PredictOptions
from masker.commands.predict_shards import ShardsSummary, predict_shards
from masker.commands.shard_files import Shard
from masker.commands.shard_worker import ShardResult, ShardWorker
from masker.config import DataSettings
from masker.errors import DataError, ModelError
from masker.ray.cluster import Cluster, RayOptions
from tests.cli import command_line

GOOD = {"a.parquet": "a.jsonl", "b.jsonl": "b.jsonl", "deep/c.csv": "deep/c.jsonl", "deep/d.tsv.gz": "deep/d.jsonl"}


@pytest.fixture
def run(shard_model, shard_folder, tmp_path, caplog):
    caplog.set_level("INFO", logger="masker")

    def go(model=shard_model, settings=DataSettings(), ray=None, **options):  # noqa: B008
        caplog.clear()
        written = PredictOptions(**options)
        return predict_shards(str(model), str(shard_folder), tmp_path / "out", settings, written, ray=ray)

    return go


def contents(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def stamps(folder):
    return {str(path.relative_to(folder)): path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}


def test_every_shard_becomes_what_the_single_file_command_writes(run, shard_model, shard_folder, tmp_path):
    (shard_folder / "broken.jsonl").unlink()
    assert run(with_text=True) == ShardsSummary(predicted=4, kept=0, rows=48)
    for source, name in GOOD.items():
        one = tmp_path / "one.jsonl"
        predict(str(shard_model), str(shard_folder / source), DataSettings(), PredictOptions(with_text=True), str(one))
        assert (tmp_path / "out" / name).read_bytes() == one.read_bytes()
    record = json.loads((tmp_path / "out" / "_origin" / "deep" / "c.jsonl.json").read_text())
    assert record["rows"] == 12
    assert record["input"] == str(shard_folder / "deep" / "c.csv")
    assert record["made_from"].keys() == {"model_sha256", "backend", "input_sha256", "options"}
    assert set(contents(tmp_path / "out")) == {*GOOD.values(), *(f"_origin/{name}.json" for name in GOOD.values())}


def test_a_broken_shard_is_named_and_the_others_are_done(run, tmp_path, caplog):
    with pytest.raises(DataError, match=r"^1 of 5 shards failed \(see above\); all others are done"):
        run()
    (line,) = [record.getMessage() for record in caplog.records if record.levelname == "ERROR"]
    assert line.startswith(f"{tmp_path / 'data' / 'broken.jsonl'}: line 2 is not valid JSON")
    assert "\n" not in line
    assert not list((tmp_path / "out").rglob("*broken*"))
    assert all((tmp_path / "out" / name).is_file() for name in GOOD.values())


def test_a_shard_without_rows_to_predict_is_empty_and_no_failure(run, shard_folder, tmp_path, caplog):
    for name in ("broken.jsonl", "a.parquet", "deep/c.csv", "deep/d.tsv.gz"):
        (shard_folder / name).unlink()
    rows = [{"text": "rocket", "lang": "en"}, {"text": "soup", "lang": "en"}]
    (shard_folder / "b.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (shard_folder / "french.jsonl").write_text('{"text": "fusée", "lang": "fr"}\n')
    (shard_folder / "header.csv").write_text("text,lang\n")
    english = DataSettings(where={"lang": ["en", "uk"]})
    assert run(settings=english) == ShardsSummary(predicted=3, kept=0, rows=2)
    assert [(tmp_path / "out" / f"{name}.jsonl").read_text() for name in ("french", "header")] == ["", ""]
    assert run(settings=english) == ShardsSummary(predicted=0, kept=3, rows=2)
    assert run(settings=DataSettings(where={"lang": ["xx"]})).rows == 0
    assert "no shard has a row to predict" in caplog.text


def test_finished_shards_are_kept_and_what_changed_is_made_again(run, shard_folder, tmp_path, caplog):
    (shard_folder / "broken.jsonl").unlink()
    run()
    before = stamps(tmp_path / "out")
    assert run() == ShardsSummary(predicted=0, kept=4, rows=48)
    assert stamps(tmp_path / "out") == before

    (shard_folder / "b.jsonl").write_text('{"text": "bread and soup"}\n')
    assert run() == ShardsSummary(predicted=1, kept=3, rows=37)
    assert "made again because model, input or options changed: 1" in caplog.text
    assert len((tmp_path / "out" / "b.jsonl").read_text().splitlines()) == 1

    assert run(settings=DataSettings(limit=5, skip_invalid=True)).predicted == 4, "another option"
    assert run(settings=DataSettings(limit=5)).predicted == 4, "another option"
    (tmp_path / "out" / "a.jsonl").write_text("cut short")
    (tmp_path / "out" / "_origin" / "deep" / "c.jsonl.json").write_text("{")
    assert run(settings=DataSettings(limit=5)) == ShardsSummary(predicted=2, kept=2, rows=16)


def test_another_model_makes_everything_again(run, shard_model, shard_folder, tmp_path):
    (shard_folder / "broken.jsonl").unlink()
    run()
    before = contents(tmp_path / "out")
    other = tmp_path / "other"
    shutil.copytree(shard_model, other)
    assert run(model=str(other)).kept == 4, "the same model under another name"
    manifest = json.loads((other / "masker.json").read_text())
    (other / "masker.json").write_text(json.dumps({**manifest, "threshold": -1.0}))
    assert run(model=str(other)).predicted == 4
    assert contents(tmp_path / "out") != before


def test_interrupted_between_shard_and_record_is_made_again(run, shard_folder, tmp_path, monkeypatch):
    """And the record of an older shard is gone before the new shard takes its place."""
    for name in ("broken.jsonl", "b.jsonl"):
        (shard_folder / name).unlink()
    run()

    def interrupted(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(worker_module, "write_origin", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run(settings=DataSettings(limit=3))
    monkeypatch.undo()
    assert run().predicted == 1, "a.jsonl holds 3 rows, and nothing says that they are the 12 of before"
    assert len((tmp_path / "out" / "a.jsonl").read_text().splitlines()) == 12


def test_an_input_that_changes_under_the_reader_is_no_result(run, shard_folder, tmp_path, monkeypatch, caplog):
    for name in ("broken.jsonl", "a.parquet", "deep/c.csv", "deep/d.tsv.gz"):
        (shard_folder / name).unlink()
    original = worker_module.predict_source

    def meddling(*args, **options):
        rows = original(*args, **options)
        with (shard_folder / "b.jsonl").open("a") as file:
            file.write('{"text": "more"}\n')
        return rows

    monkeypatch.setattr(worker_module, "predict_source", meddling)
    with pytest.raises(DataError):
        run()
    assert "b.jsonl: changed while it was being read" in caplog.text
    assert contents(tmp_path / "out") == {}
    monkeypatch.undo()
    assert run() == ShardsSummary(predicted=1, kept=0, rows=13)


def test_leftovers_of_a_killed_worker_are_removed(run, shard_folder, tmp_path):
    (shard_folder / "broken.jsonl").unlink()
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / ".a.jsonl.k1ll3d").write_text("half a ro")
    run()
    assert not list((tmp_path / "out").glob(".*"))


class Mortal(ShardWorker):
    """Is killed in the middle of the first shard that any worker takes: half of it is written."""

    def work(self, shard: Shard) -> ShardResult:
        try:
            os.close(os.open(Path(self.job.output) / "killed", os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return super().work(shard)
        (Path(self.job.output) / f".{shard.name}.half").write_text("half a ro")
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError("not reached")


def test_a_killed_worker_loses_nothing(ray_session, run, shard_model, shard_folder, tmp_path, monkeypatch, caplog):
    """On Ray, four of the five shards can be predicted, and the outputs are those of the local engine."""
    expected, output = tmp_path / "expected", tmp_path / "out"
    with pytest.raises(DataError):
        predict_shards(str(shard_model), str(shard_folder), expected, DataSettings())
    output.mkdir()
    monkeypatch.setattr(shards_module, "ShardWorker", Mortal)
    with pytest.raises(DataError, match="1 of 5 shards failed"):
        run(ray=RayOptions(workers=2))

    (broken,) = [record.getMessage() for record in caplog.records if record.levelname == "ERROR"]
    assert broken.startswith(f"{shard_folder / 'broken.jsonl'}: line 2 is not valid JSON")
    assert caplog.text.count("its worker was killed; retrying on another one") == 1
    assert (output / "killed").exists()
    found, wanted = (
        {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*.jsonl")}
        for folder in (output, expected)
    )
    assert found == wanted
    assert len(found) == 4
    assert not list(output.rglob(".*")), "the half-written shard is gone"


@pytest.mark.parametrize(("options", "gpus"), [({}, True), ({"device": "cpu"}, False), ({"backend": "onnx"}, False)])
def test_a_gpu_is_asked_for_where_it_is_of_use(run, monkeypatch, options, gpus):
    """Each worker gets a GPU of its own if the cluster has any and the options can use it."""
    asked = []

    @contextmanager
    def cluster(pieces, workers, address, *, gpus):
        asked.append((pieces, workers, address, gpus))
        yield Cluster(None, 1, 1, 1)

    monkeypatch.setattr(shards_module, "open_cluster", cluster)
    monkeypatch.setattr(shards_module, "share_out", lambda cluster, crew, shards: iter(()))
    run(ray=RayOptions(3, "head:1"), **options)
    assert asked == [(5, 3, "head:1", gpus)]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"model": "nowhere"}, ModelError, "there is no model folder 'nowhere'"),
        ({"backend": "onnx"}, ModelError, "has no export for backend onnx"),
    ],
)
def test_a_model_that_cannot_be_opened_is_said_once(run, tmp_path, caplog, options, error, message):
    with pytest.raises(error, match=message):
        run(**options)
    assert not caplog.records
    assert not (tmp_path / "out").exists()


def test_command_line(shard_model, shard_folder, tmp_path):
    (shard_folder / "broken.jsonl").unlink()
    arguments = ["predict", str(shard_model), str(shard_folder), "--engine", "local"]
    done = command_line.run(*arguments, "--output", str(tmp_path / "out"), "--format", "csv")
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    assert "48 rows; 4 files predicted, 0 kept" in done.stderr
    assert (tmp_path / "out" / "a.csv").read_text().startswith("label,confidence,p_value,ood_score,is_ood")
    line = command_line.one_line(command_line.run(*arguments))
    assert line == "masker: --engine writes one file per input file; name their folder with --output"
    line = command_line.one_line(command_line.run("predict", str(shard_model), str(shard_folder), "--workers", "2"))
    assert line == "masker: --workers and --address need --engine ray; add it, or leave them out"
