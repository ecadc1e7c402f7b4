"""Writing, fusing and quantizing a graph."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch

import masker.export.graph as graph
from masker import MaskerClassifier, ModelError
from masker.export import export_onnx
from masker.export.parity import random_batches
from masker.modeling.backbone import load_classifier, load_tokenizer
from tests.conftest import FAMILIES, make_corpus

onnx = pytest.importorskip("onnx")


@pytest.fixture
def write(trained, tmp_path):
    """``write(kinds)``: the graph of a tiny classifier in a file."""
    folder = str(trained().folder)
    classifier, tokenizer = load_classifier(folder, attn_implementation="eager").eval(), load_tokenizer(folder)
    example = random_batches(tokenizer, classifier, 16)[0]

    def get(kinds=("cls",)):
        graph.write_graph(classifier, example, tokenizer.pad_token_id, tmp_path / "model.onnx", kinds=kinds)
        return tmp_path / "model.onnx"

    return get


def sizes(values):
    return {value.name: [d.dim_param or d.dim_value for d in value.type.tensor_type.shape.dim] for value in values}


def test_inputs_and_outputs_have_names_and_open_sizes(write):
    content = onnx.load(str(write(["cls", "middle"]))).graph
    assert sizes(content.input) == {
        name: ["documents", "length"] for name in ("input_ids", "attention_mask", "token_type_ids")
    }
    outputs = sizes(content.output)
    assert list(outputs) == ["logits", "features", "features.middle"]
    assert {name: shape[0] for name, shape in outputs.items()} == dict.fromkeys(outputs, "documents")


@pytest.mark.parametrize("family", FAMILIES)
def test_what_is_fused(exported, family):
    """Two layers: two layer norms each, an activation each, attention each."""
    fused = json.loads((exported(family, "one-vs-rest", False).folder / "onnx" / "export.json").read_text())["fused"]
    # The sum of MPNet's two embeddings and its layer norm look like those of a layer.
    assert fused["SkipLayerNormalization"] == (5 if family == "mpnet" else 4)
    # ALBERT's first layer reads a projection of the embeddings, and MPNet adds a bias that depends on the positions:
    # the attention fusion recognises neither.
    assert fused.get("Attention", 0) == {"albert": 1, "mpnet": 0}.get(family, 2)
    assert fused["FastGelu" if family == "albert" else "BiasGelu"] == 2


@pytest.mark.parametrize("family", ["bert", "roberta"])
def test_what_is_fused_of_a_pooled_model(exported, family):
    """Its pooling is the mean and one more layer norm; no attention and no activation are computed for it."""
    folder = exported(family, "multi-class", False, "head", "mean").folder
    fused = json.loads((folder / "onnx" / "export.json").read_text())["fused"]
    assert (fused["Attention"], fused["SkipLayerNormalization"], fused["BiasGelu"]) == (2, 5, 2)


def test_a_file_that_cannot_be_fused_leaves_no_target(tmp_path):
    (tmp_path / "model.onnx").write_bytes(b"no graph")
    assert graph.fuse_graph(tmp_path / "model.onnx", tmp_path / "fused.onnx", None) == {}
    assert [path.name for path in tmp_path.iterdir()] == ["model.onnx"]


def test_the_newer_exporter_is_the_fallback(fresh, monkeypatch):
    original, calls = torch.onnx.export, []

    def no_tracing(*args, dynamo, **options):
        calls.append(dynamo)
        if not dynamo:
            raise RuntimeError("cannot be traced")
        return original(*args, dynamo=dynamo, **options)

    monkeypatch.setattr(torch.onnx, "export", no_tracing)
    export_onnx(fresh)
    assert calls == [False, True]
    texts = make_corpus(12, seed=3)[0]
    expected = MaskerClassifier.load(fresh).doc_logits(texts)
    np.testing.assert_allclose(MaskerClassifier.load(fresh, "onnx").doc_logits(texts), expected, atol=1e-4)


def test_an_architecture_that_no_exporter_takes(write, monkeypatch):
    def fail(*args, **options):
        raise RuntimeError("operator\n  not supported")

    monkeypatch.setattr(torch.onnx, "export", fail)
    with pytest.raises(ModelError, match=r"^BertForSequenceClassification .*\(operator not supported\); use the torch"):
        write()


def test_a_graph_that_cannot_be_quantized(write, monkeypatch, tmp_path):
    def fail(*args, **options):
        raise ValueError("odd\nweights")

    monkeypatch.setattr(graph, "smooth_activations", fail)
    with pytest.raises(ModelError, match=r"\(odd weights\); export it without --int8$"):
        graph.quantize_graph(write(), tmp_path / "small.onnx", [], 0)


@pytest.mark.parametrize(("flags", "exact"), [("avx2 avx512_vnni", True), ("avx2 avx_vnni", True), ("avx2", False)])
def test_which_processors_need_7_bits(monkeypatch, flags, exact):
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    monkeypatch.setattr(graph.Path, "read_text", lambda *_, **__: f"flags: {flags}")
    assert graph._has_exact_products() is exact
    monkeypatch.setattr("platform.machine", lambda: "aarch64")
    assert graph._has_exact_products()


def test_exporters_are_silent(write, monkeypatch, capsys, caplog):
    import logging
    import warnings

    original = torch.onnx.export

    def chatty(*args, **options):
        print("step 1 of 3")
        logging.getLogger("torch.onnx").error("careful")
        warnings.warn("tracing", stacklevel=1)
        return original(*args, **options)

    monkeypatch.setattr(torch.onnx, "export", chatty)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        write()
    assert capsys.readouterr().out == ""
    assert caplog.records == []
    assert logging.root.manager.disable == logging.NOTSET
