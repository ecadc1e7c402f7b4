"""A small trained model and a folder of shards in several forms."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest

from masker import Documents
from tests.conftest import fit_classifier, make_corpus


@pytest.fixture(scope="session")
def shard_model(tiny_settings, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("shard-model")
    texts, labels = make_corpus(40)
    settings = tiny_settings(training={"method": "vanilla", "epochs": 1})
    documents = Documents(texts, None, labels, "made up")
    return fit_classifier(documents, settings, folder / "work").save(folder / "model")


@pytest.fixture
def shard_folder(tmp_path) -> Path:
    """Four good shards and one whose second line is broken."""
    folder = tmp_path / "data"
    (folder / "deep").mkdir(parents=True)
    texts = [make_corpus(12, seed=seed)[0] for seed in range(4)]
    pyarrow.parquet.write_table(pyarrow.table({"text": texts[0]}), folder / "a.parquet")
    (folder / "b.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in texts[1]))
    (folder / "deep" / "c.csv").write_text("\n".join(["text", *texts[2]]))
    (folder / "deep" / "d.tsv.gz").write_bytes(gzip.compress("\n".join(["text", *texts[3]]).encode()))
    (folder / "broken.jsonl").write_text('{"text": "rocket"}\n{oops\n')
    return folder


@pytest.fixture(scope="session")
def reported_model(tiny_settings, tmp_path_factory) -> Path:
    """A MASKER model that was cross-fitted, with its losses and held-out answers."""
    from masker import Model
    from tests.commands.report_subject import documents

    folder = tmp_path_factory.mktemp("reported")
    settings = tiny_settings(training={"epochs": 1})
    return Model.fit(documents(60, 0, "train.csv"), settings, folder / "work", device="cpu").save(folder / "model")
