import json

import pytest

from masker import hub
from masker.config import DataSettings
from masker.documents import read_documents
from masker.errors import DataError

datasets = pytest.importorskip("datasets")


@pytest.fixture(autouse=True)
def _alone(monkeypatch, tmp_path_factory):
    monkeypatch.delenv("MASKER_DATA", raising=False)
    monkeypatch.setenv("MASKER_CACHE", str(tmp_path_factory.mktemp("cache")))
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path_factory.mktemp("hf"))


def read(source, *, labels=True, **settings):
    return read_documents(source, DataSettings(**settings), require_labels=labels)


@pytest.fixture
def saved(tmp_path):
    features = datasets.Features(
        {"sentence": datasets.Value("string"), "label": datasets.ClassLabel(names=["neg", "pos"])}
    )
    train = datasets.Dataset.from_dict({"sentence": ["a", "b"], "label": [1, 0]}, features=features)
    test = datasets.Dataset.from_dict({"sentence": ["c", "d"], "label": [1, -1]}, features=features)
    datasets.DatasetDict({"train": train, "test": test}).save_to_disk(tmp_path / "saved")
    return tmp_path / "saved"


def test_saved_folder_with_class_names(saved):
    documents = read(saved)
    assert (documents.texts, documents.labels) == (["a", "b"], ["pos", "neg"])


def test_split_after_a_colon(saved):
    assert read(f"{saved}:test", labels=False).texts == ["c", "d"]
    with pytest.raises(DataError, match=r"1 row has no label \(line 2\)"):  # -1 is a withheld label
        read(f"{saved}:test")
    with pytest.raises(DataError, match=r"saved: has no split 'dev'; it has train, test: write .*saved:train"):
        read(f"{saved}:dev")


def test_a_single_saved_data_set(tmp_path):
    datasets.Dataset.from_dict({"text": ["a"], "label": ["x"]}).save_to_disk(tmp_path / "one")
    assert read(tmp_path / "one").labels == ["x"]
    with pytest.raises(DataError, match="one: has no split 'test'; it holds a single data set, so leave ':test' out"):
        read(f"{tmp_path / 'one'}:test")


def test_folder_of_json_lines(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    for split in ("train", "test"):
        rows = [{"text": f"{split} {i}", "label": i} for i in range(3)]
        (folder / f"{split}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    assert read(folder).labels == ["0", "1", "2"]
    assert read(f"{folder}:test").texts[0] == "test 0"
    with pytest.raises(DataError, match="has no column 'body'; its columns are: text, label; pass --text-column"):
        read(folder, text_column="body")


def test_only_split_that_is_not_train(tmp_path):
    (tmp_path / "test.csv").write_text("text,label\na,x\n")
    assert read(tmp_path).texts == ["a"]


def test_folder_without_data(tmp_path):
    with pytest.raises(DataError, match="the folder has no data files; put CSV, JSON Lines or Parquet files there"):
        read(tmp_path)


def test_damaged_folder(tmp_path):
    (tmp_path / "state.json").write_text("{")
    with pytest.raises(DataError, match="the folder cannot be read as a data set") as caught:
        read(tmp_path)
    assert "\n" not in str(caught.value)


def test_unreachable_hub_fails_fast_in_one_line(monkeypatch):
    monkeypatch.setattr(hub, "hub_online", lambda: False)
    before = datasets.config.HF_HUB_OFFLINE
    message = "'owner/nothing-here': no file or data set of that name could be reached .*`masker data list`"
    with pytest.raises(DataError, match=message) as caught:
        read("owner/nothing-here:train")
    assert "\n" not in str(caught.value)
    assert before == datasets.config.HF_HUB_OFFLINE, "the switch is put back"


def test_misspelt_corpus_gets_a_hint(monkeypatch):
    monkeypatch.setattr(hub, "hub_online", lambda: False)
    with pytest.raises(DataError, match="Did you mean '20newsgroups'"):
        read("20newsgrups")


def test_hub_id_asks_for_no_code(monkeypatch):
    calls = []

    def load_dataset(*args, **kwargs):
        calls.append((args, kwargs))
        return datasets.DatasetDict({"validation": datasets.Dataset.from_dict({"text": ["a"], "label": ["x"]})})

    monkeypatch.setattr(hub, "hub_online", lambda: True)
    monkeypatch.setattr(datasets, "load_dataset", load_dataset)
    assert read("owner/name").texts == ["a"]
    assert calls == [(("owner/name",), {})]
