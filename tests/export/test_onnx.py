"""The files of an export, and what it refuses."""

from __future__ import annotations

import json
import shutil
from importlib import import_module

import numpy as np
import pytest

import masker.export.onnx as export
from masker import ConfigError, Documents, MaskerClassifier, ModelError
from masker.errors import MissingPackageError
from masker.export import CheckData, export_onnx
from tests.conftest import make_corpus


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def no_onnx(monkeypatch):
    def refuse(name):
        if name.split(".")[0] == "onnx":
            raise ImportError(f"No module named '{name}'")
        return import_module(name)

    monkeypatch.setattr("masker.extras.import_module", refuse)


def test_the_record(exported):
    import hashlib

    folder = exported().folder
    record = json.loads((folder / "onnx" / "export.json").read_text())
    assert record["weights_sha256"] == hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()
    assert set(record["files"]) == {"model.onnx", "model.int8.onnx"}
    assert record["parity"]["rows"] >= 32
    assert record["files"]["model.onnx"]["max_logit_difference"] <= 1e-4
    assert record["provenance"]["onnx"]["onnxruntime"]
    assert names(folder / "onnx") == ["export.json", "model.int8.onnx", "model.onnx"]


def test_other_weights_make_an_export_stale(fresh_export):
    from safetensors.torch import load_file, save_file

    weights = load_file(fresh_export / "model.safetensors")
    next(iter(weights.values())).add_(1.0)
    save_file(weights, fresh_export / "model.safetensors", metadata={"format": "pt"})
    MaskerClassifier.load(fresh_export)
    for backend in ("onnx", "onnx-int8"):
        with pytest.raises(ModelError, match=r"older than the model's weights; run 'masker export"):
            MaskerClassifier.load(fresh_export, backend)
    export_onnx(fresh_export)
    MaskerClassifier.load(fresh_export, "onnx")
    with pytest.raises(ModelError, match="no export for backend onnx-int8"):
        MaskerClassifier.load(fresh_export, "onnx-int8")
    assert names(fresh_export / "onnx") == ["export.json", "model.onnx"], "the 8-bit graph of the old weights is gone"


def test_a_second_export_of_the_same_weights_keeps_the_8_bit_graph(fresh_export):
    before = (fresh_export / "onnx" / "model.int8.onnx").read_bytes()
    texts, labels = make_corpus(6)
    export_onnx(fresh_export, check=CheckData(Documents(texts, None, labels, "six")))
    assert (fresh_export / "onnx" / "model.int8.onnx").read_bytes() == before
    MaskerClassifier.load(fresh_export, "onnx-int8")


@pytest.mark.parametrize("damage", ["cut", "swapped", "record"])
def test_a_damaged_export(fresh_export, damage):
    folder = fresh_export / "onnx"
    if damage == "cut":
        content = (folder / "model.onnx").read_bytes()
        (folder / "model.onnx").write_bytes(content[: len(content) // 2])
    elif damage == "swapped":
        shutil.copy(folder / "model.int8.onnx", folder / "model.onnx")
    else:
        (folder / "export.json").write_text("{")
    with pytest.raises(ModelError, match="masker export"):
        MaskerClassifier.load(fresh_export, "onnx")


@pytest.mark.parametrize(
    "step", ["write_graph", "fuse_graph", "quantize_graph", "file_sha256", "_keep_earlier_files", "write_json"]
)
def test_a_failed_export_leaves_nothing_behind(fresh, monkeypatch, step):
    before = names(fresh)
    original = getattr(export, step)

    def fail(*args, **options):
        original(*args, **options)
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(export, step, fail)
    with pytest.raises(OSError, match="No space"):
        export_onnx(fresh, int8=True)
    assert names(fresh) == before


def test_other_files_in_the_folder_are_kept(fresh_export):
    (fresh_export / "onnx" / "notes.txt").write_text("mine")
    export_onnx(fresh_export)
    assert names(fresh_export / "onnx") == ["export.json", "model.int8.onnx", "model.onnx", "notes.txt"]
    assert (fresh_export / "onnx" / "notes.txt").read_text() == "mine"


def test_a_failed_renewal_leaves_the_old_export(fresh_export, monkeypatch):
    def fail(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(export, "quantize_graph", fail)
    with pytest.raises(OSError, match="No space"):
        export_onnx(fresh_export, int8=True)
    for backend in ("onnx", "onnx-int8"):
        MaskerClassifier.load(fresh_export, backend)


def test_an_inexact_graph_is_refused(fresh, monkeypatch):
    """The graph's weights differ slightly from those that parity is measured with."""
    before = names(fresh)
    original = export.write_graph

    def other_weights(classifier, *args, **options):
        import torch

        last = [module for module in classifier.modules() if isinstance(module, torch.nn.Linear)][-1]
        with torch.no_grad():
            last.bias.add_(0.001)
            original(classifier, *args, **options)
            last.bias.sub_(0.001)

    monkeypatch.setattr(export, "write_graph", other_weights)
    with pytest.raises(ModelError, match=r"off by 0\.001 .*torch backend"):
        export_onnx(fresh)
    assert names(fresh) == before


@pytest.mark.parametrize("kind", ["wrong", "broken", "absent"])
def test_without_a_good_fusion_the_plain_graph_stays(fresh, monkeypatch, kind):
    import onnx

    original = export.fuse_graph

    def bad(file, target, config):
        if kind == "absent":
            return {}
        fused = original(file, target, config)
        if kind == "broken":
            target.write_bytes(b"no graph")
            return fused
        model = onnx.load(str(target))
        biases = [tensor for tensor in model.graph.initializer if tensor.name.endswith("classifier.bias")]
        assert biases
        changed = onnx.numpy_helper.from_array(onnx.numpy_helper.to_array(biases[-1]) + 0.01, biases[-1].name)
        biases[-1].CopyFrom(changed)
        onnx.save(model, str(target))
        return fused

    monkeypatch.setattr(export, "fuse_graph", bad)
    report = export_onnx(fresh, int8=True)
    assert report.fused == {}
    assert names(fresh / "onnx") == ["export.json", "model.int8.onnx", "model.onnx"]
    texts = make_corpus(12, seed=3)[0]
    expected = MaskerClassifier.load(fresh).doc_logits(texts)
    np.testing.assert_allclose(MaskerClassifier.load(fresh, "onnx").doc_logits(texts), expected, atol=1e-4)
    agree = MaskerClassifier.load(fresh, "onnx-int8").doc_logits(texts).argmax(axis=1) == expected.argmax(axis=1)
    assert agree.mean() >= 0.75


def test_a_folder_of_its_own(trained, tmp_path):
    model = trained()
    before = names(model.folder)
    report = export_onnx(model.folder, int8=True, output=tmp_path / "new" / "served")
    assert names(model.folder) == before
    assert names(tmp_path / "new") == ["served"]
    assert report.folder == tmp_path / "new" / "served"
    assert not list(report.folder.glob("model*.safetensors"))
    assert {"masker.json", "masker.safetensors", "config.json", "tokenizer.json", "onnx"} <= set(names(report.folder))
    expected = MaskerClassifier.load(model.folder).predict_texts(model.texts)
    for backend in (None, "onnx"):
        answers = MaskerClassifier.load(report.folder, backend).predict_texts(model.texts)
        assert [(a.label, a.is_ood) for a in answers] == [(e.label, e.is_ood) for e in expected]
    MaskerClassifier.load(report.folder, "onnx-int8").predict_texts(model.texts)
    with pytest.raises(ModelError, match="weights"):
        MaskerClassifier.load(report.folder, "torch")
    with pytest.raises(ModelError, match="no weights of its own"):
        export_onnx(report.folder)
    with pytest.raises(ConfigError, match="already exists"):
        export_onnx(model.folder, output=report.folder)


def test_a_failed_folder_leaves_nothing_behind(trained, tmp_path, monkeypatch):
    def fail(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(export.shutil, "copy2", fail)
    with pytest.raises(OSError, match="No space"):
        export_onnx(trained().folder, output=tmp_path / "served")
    assert names(tmp_path) == []


def test_without_the_package(fresh_export, no_onnx):
    with pytest.raises(MissingPackageError, match=r"^exporting needs onnx .*pip install 'masker\[onnx\]'$"):
        export_onnx(fresh_export)
    assert MaskerClassifier.load(fresh_export, "onnx").predict_texts(["moon"])


def test_check_of_a_regression(trained, tmp_path):
    model = trained("bert", "regression")
    texts, labels = make_corpus(30, seed=4)
    test = Documents(texts, None, [float(len(label)) for label in labels], "scores")
    report = export_onnx(model.folder, output=tmp_path / "served", check=CheckData(test))
    figures = report.agreement["backends"]
    assert figures["onnx"]["max_difference"] <= 1e-4
    assert figures["onnx"]["pearson"] == pytest.approx(figures["torch"]["pearson"], abs=1e-4)
    with pytest.raises(ConfigError, match="without --ood"):
        export_onnx(model.folder, output=tmp_path / "again", check=CheckData(test, {"o": test}))
    assert names(tmp_path) == ["served"]
