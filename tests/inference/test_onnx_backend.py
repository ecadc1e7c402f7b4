"""Running a graph in ONNX Runtime; the graph is made by hand, so every number is known."""

from __future__ import annotations

import numpy as np
import pytest

from masker import ModelError
from masker.documents.encoding import Encoded
from masker.files import file_sha256
from masker.inference.onnx_backend import OnnxBackend, weight_files, weights_sha256

onnx = pytest.importorskip("onnx")
PAD = 9


@pytest.fixture
def make_graph(tmp_path):
    """logits = [sum of ids, sum of mask] (with types also their sum); features = the first id, thrice."""

    def make(types: bool):
        helper, integers, floats = onnx.helper, onnx.TensorProto.INT64, onnx.TensorProto.FLOAT
        names = ["input_ids", "attention_mask", *(["token_type_ids"] if types else [])]
        nodes = []
        for name in names:
            nodes.append(helper.make_node("Cast", [name], [f"{name}_float"], to=floats))
            nodes.append(helper.make_node("ReduceSum", [f"{name}_float", "one"], [f"{name}_sum"], keepdims=1))
        nodes.append(helper.make_node("Concat", [f"{name}_sum" for name in names], ["logits"], axis=1))
        nodes.append(helper.make_node("Slice", ["input_ids_float", "zero", "one", "one"], ["first"]))
        nodes.append(helper.make_node("Tile", ["first", "thrice"], ["features"]))
        constants = {"zero": [0], "one": [1], "thrice": [1, 3]}
        graph = helper.make_graph(
            nodes,
            "sums",
            [helper.make_tensor_value_info(name, integers, ["n", "t"]) for name in names],
            [
                helper.make_tensor_value_info("logits", floats, ["n", len(names)]),
                helper.make_tensor_value_info("features", floats, ["n", 3]),
            ],
            [onnx.numpy_helper.from_array(np.array(values, dtype=np.int64), key) for key, values in constants.items()],
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        file = tmp_path / f"sums-{types}.onnx"
        onnx.save(model, str(file))
        return file

    return make


def rows(*ids, types=None):
    return Encoded(
        [np.array(row, dtype=np.int64) for row in ids],
        None if types is None else [np.array(row, dtype=np.int64) for row in types],
        None,
        np.arange(len(ids)),
    )


@pytest.mark.parametrize("budget", [1, 6, 4096])
def test_rows_are_padded_masked_and_put_back_in_order(make_graph, budget):
    """Rows (1 2), (3 4 5), (6): in one batch with padding 9, sums are 3 + 9, 12, 6 + 18; the mask counts 2, 3, 1."""
    scorer, seen = OnnxBackend(make_graph(False), PAD, budget), []
    encoded = rows([1, 2], [3, 4, 5], [6], types=[[1, 1], [1, 1, 1], [1]])
    outputs = scorer.predict_outputs(encoded, advance=seen.append)
    logits, features = outputs.logits, outputs.features["cls"]
    padded = {1: [3, 12, 6], 6: [12, 12, 6], 4096: [12, 12, 24]}[budget]
    np.testing.assert_array_equal(logits, np.array([padded, [2, 3, 1]]).T)
    np.testing.assert_array_equal(features, [[1] * 3, [3] * 3, [6] * 3])
    np.testing.assert_array_equal(scorer.predict_logits(encoded), logits)
    assert logits.dtype == features.dtype == np.float32
    assert sum(seen) == 3
    assert scorer.n_outputs == 2


def test_features_that_the_graph_does_not_give(make_graph):
    with pytest.raises(ModelError, match=r"features \(middle\) that this export lacks; run"):
        OnnxBackend(make_graph(False), PAD).predict_outputs(rows([1, 2]), ["cls", "middle"])


def test_token_types_go_in_where_the_graph_takes_them(make_graph):
    scorer = OnnxBackend(make_graph(True), PAD)
    encoded = rows([1, 2], [3, 4, 5], types=[[0, 1], [1, 1, 1]])
    np.testing.assert_array_equal(scorer.predict_logits(encoded), [[12, 2, 1], [12, 3, 3]])
    np.testing.assert_array_equal(scorer.predict_logits(encoded.take([1])), [[12, 3, 3]])
    np.testing.assert_array_equal(scorer.predict_logits(rows([1, 2])), [[3, 2, 0]])


def test_no_rows(make_graph):
    assert OnnxBackend(make_graph(False), PAD).predict_logits(rows()).shape == (0, 2)


def test_threads_are_the_usable_cores(make_graph, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    scorer = OnnxBackend(make_graph(False), PAD)
    assert scorer._session.get_session_options().intra_op_num_threads == 3


def test_many_texts_run_side_by_side_on_one_core_each(make_graph, monkeypatch):
    file, encoded = make_graph(False), rows(*([n, n + 1] for n in range(40)))
    found = {}
    for threads in (1, 3):
        monkeypatch.setenv("OMP_NUM_THREADS", str(threads))
        scorer, seen = OnnxBackend(file, PAD, 4), []
        found[threads] = scorer.predict_logits(encoded, seen.append)
        assert sum(seen) == 40
        opened = "_session_of_one_core" in vars(scorer)
        assert opened is (threads > 1)
    assert scorer._session_of_one_core.get_session_options().intra_op_num_threads == 1
    np.testing.assert_array_equal(found[1], [[2 * n + 1, 2] for n in range(40)])
    np.testing.assert_array_equal(found[3], found[1])


def test_few_texts_use_all_cores(make_graph, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    scorer = OnnxBackend(make_graph(False), PAD)
    scorer.predict_logits(rows([1, 2], [3]))
    assert "_session_of_one_core" not in vars(scorer)


def test_a_file_that_is_no_graph(tmp_path):
    (tmp_path / "model.onnx").write_bytes(b"nothing")
    with pytest.raises(ModelError, match="masker export"):
        OnnxBackend(tmp_path / "model.onnx", PAD)


def test_fingerprint_covers_all_weight_files_and_only_them(tmp_path):
    import hashlib

    (tmp_path / "model-00002-of-00002.safetensors").write_bytes(b"second")
    (tmp_path / "model-00001-of-00002.safetensors").write_bytes(b"first ")
    (tmp_path / "masker.safetensors").write_bytes(b"other")
    assert [file.name[6:11] for file in weight_files(tmp_path)] == ["00001", "00002"]
    assert weights_sha256(tmp_path) == hashlib.sha256(b"first second").hexdigest()
    assert file_sha256(tmp_path / "masker.safetensors") == hashlib.sha256(b"other").hexdigest()


def planted(folder, nodes, width, inputs=("input_ids", "attention_mask"), weights=(), domains=()):
    """A graph from a stranger: ``nodes`` are (operator, inputs, outputs, attributes)."""
    helper = onnx.helper
    graph = helper.make_graph(
        [helper.make_node(kind, list(of), list(to), **more) for kind, of, to, more in nodes],
        "planted",
        [helper.make_tensor_value_info(name, onnx.TensorProto.INT64, ["n", "t"]) for name in inputs],
        [helper.make_tensor_value_info("logits", onnx.TensorProto.FLOAT, ["n", width])],
        list(weights),
    )
    opsets = [helper.make_opsetid("", 17), *(helper.make_opsetid(name, 1) for name in domains)]
    file = folder / "planted.onnx"
    file.write_bytes(helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString())
    return file


CAST = ("Cast", ["input_ids"], ["logits"], {"to": 1})


@pytest.mark.parametrize("location", ["../secret.bin", "{folder}/secret.bin", "link.bin"])
def test_weights_outside_the_folder_are_not_read(tmp_path, location):
    (tmp_path / "secret.bin").write_bytes(bytes(16))
    inside = tmp_path / "model"
    inside.mkdir()
    (inside / "link.bin").symlink_to(tmp_path / "secret.bin")
    weight = onnx.TensorProto(name="w", data_type=1, dims=[1, 4], data_location=onnx.TensorProto.EXTERNAL)
    for key, value in {"location": location.format(folder=tmp_path), "offset": "0", "length": "16"}.items():
        weight.external_data.add(key=key, value=value)
    nodes = [("Cast", ["input_ids"], ["x"], {"to": 1}), ("Add", ["x", "w"], ["logits"], {})]
    with pytest.raises(ModelError, match=r"planted.onnx' cannot be opened .*External data path"):
        OnnxBackend(planted(inside, nodes, 4, weights=[weight]), PAD)


@pytest.mark.parametrize(
    ("nodes", "more", "sentence"),
    [
        ([CAST], {"inputs": ("input_ids", "password")}, "cannot be opened \\(it reads input_ids, password\\)"),
        ([CAST], {"inputs": ("input_ids",)}, "cannot be opened \\(it reads input_ids\\)"),
        ([("Evil", ["input_ids"], ["logits"], {"domain": "evil"})], {"domains": ["evil"]}, "cannot be opened .*Load"),
    ],
)
def test_graphs_with_other_inputs_or_operators_are_refused(tmp_path, nodes, more, sentence):
    with pytest.raises(ModelError, match=f"planted.onnx' {sentence}.*; run 'masker export' on its model again"):
        OnnxBackend(planted(tmp_path, nodes, 2, **more), PAD)


@pytest.mark.parametrize(
    ("nodes", "width", "sentence"),
    [
        ([CAST], 7, "its logits have shape \\(2, 3\\) instead of \\(2, 7\\)"),
        (
            [("Cast", ["input_ids"], ["x"], {"to": 1}), ("Gather", ["x", "ten"], ["logits"], {})],
            1,
            "out of data bounds",
        ),
        ([(*CAST[:2], ["x"], {"to": 1}), ("Neg", ["x"], ["y"], {}), ("Sqrt", ["y"], ["logits"], {})], 3, "not finite"),
    ],
)
def test_graphs_that_fail_on_texts_end_in_one_line(tmp_path, nodes, width, sentence, capfd):
    ten = onnx.numpy_helper.from_array(np.array([10], dtype=np.int64), "ten")
    backend = OnnxBackend(planted(tmp_path, nodes, width, weights=[ten]), PAD)
    with pytest.raises(ModelError, match=f"planted.onnx' fails .*{sentence}.*; run 'masker export' on its model again"):
        backend.predict_logits(rows([1, 2, 3], [4]))
    assert capfd.readouterr().err == ""
