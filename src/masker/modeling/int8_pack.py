"""A RoBERTa in 8 bits inside one file, read into a folder that plain transformers opens.

The file, in little-endian order:

===========================  ==========================================================================
8 bytes                      ``HMSEMB01``
8 bytes                      length of the header
header                       JSON: ``arch``, ``meta``, ``tokenizer_len``, and ``tensors`` in their order
tokenizer                    ``tokenizer.json``
each tensor of type ``i8``   its values, then one 32-bit float for each ``group`` of them: the scale
each tensor of type ``f32``  its values
===========================  ==========================================================================

A weight is its 8-bit value times the scale of its group. Groups run along the rows.
"""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from masker.errors import ModelError

Tensors = dict[str, npt.NDArray[np.float32]]

MAGIC = b"HMSEMB01"
_START = len(MAGIC) + 8
#: Parts of the file's tensor names -> those of transformers; ``qkv`` holds three layers on top of each other.
_EMBEDDINGS = {
    "word_emb": "word_embeddings.weight",
    "pos_emb": "position_embeddings.weight",
    "type_emb": "token_type_embeddings.weight",
    "emb_ln.w": "LayerNorm.weight",
    "emb_ln.b": "LayerNorm.bias",
}
_LAYER = {
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "f1": "intermediate.dense",
    "f2": "output.dense",
    "fln": "output.LayerNorm",
}
_KINDS = {"w": "weight", "b": "bias"}


@dataclass(frozen=True)
class Int8Pack:
    """What a file holds: architecture, what it says of itself, the tokenizer, and tensors under their names there."""

    arch: dict[str, Any]
    meta: dict[str, Any]
    tokenizer: bytes
    tensors: Tensors


def read_int8_pack(content: bytes) -> Int8Pack:
    """Read the file; anything that does not fit its own header is refused."""
    if content[: len(MAGIC)] != MAGIC:
        _refuse(f"it starts with {content[: len(MAGIC)]!r}, not {MAGIC!r}")
    end = _START + int.from_bytes(content[len(MAGIC) : _START], "little")
    try:
        header = json.loads(content[_START:end])
        tensors, tokenizer_end = header["tensors"], end + header["tokenizer_len"]
        expected = tokenizer_end + sum(tensor["len"] for tensor in tensors)
        if len(content) != expected:
            _refuse(f"it has {len(content):,} bytes, its header announces {expected:,}")
        values, position = {}, tokenizer_end
        for tensor in tensors:
            values[tensor["name"]] = _values(tensor, content[position : position + tensor["len"]])
            position += tensor["len"]
        return Int8Pack(header["arch"], header["meta"], content[end:tokenizer_end], values)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        _refuse(f"its header cannot be read: {type(error).__name__} {error}")


def _values(tensor: dict[str, Any], raw: bytes) -> npt.NDArray[np.float32]:
    """The tensor's numbers; ``reshape`` refuses a length that does not fit."""
    count = math.prod(tensor["shape"])
    if tensor["dtype"] == "f32":
        return np.frombuffer(raw, dtype="<f4").astype(np.float32).reshape(tensor["shape"])
    if tensor["dtype"] != "i8":
        _refuse(f"tensor '{tensor['name']}' has type '{tensor['dtype']}', neither i8 nor f32")
    scales = np.frombuffer(raw[count:], dtype="<f4").astype(np.float32).reshape(-1, 1)
    groups = np.frombuffer(raw[:count], dtype=np.int8).reshape(len(scales), tensor["group"])
    return (groups * scales).reshape(tensor["shape"])


def write_roberta_folder(pack: Int8Pack, folder: Path) -> None:
    """Write the model as transformers does: configuration, weights, tokenizer, and the pooling it was trained for."""
    from safetensors.numpy import save_file

    weights = _native_weights(pack)
    (folder / "tokenizer.json").write_bytes(pack.tokenizer)
    special = {"bos_token": "<s>", "cls_token": "<s>", "eos_token": "</s>", "sep_token": "</s>"}
    special |= {"unk_token": "<unk>", "pad_token": "<pad>", "mask_token": "<mask>"}
    tokenizer = {"tokenizer_class": "RobertaTokenizer", "model_max_length": pack.meta["max_length"]}
    pooling = {"pooling_mode_cls_token": pack.meta["pooling"] == "cls"}
    pooling |= {"pooling_mode_mean_tokens": pack.meta["pooling"] == "mean"}
    (folder / "1_Pooling").mkdir()
    for name, entries in {
        "config.json": _config(pack.arch),
        "tokenizer_config.json": tokenizer | special,
        "special_tokens_map.json": special,
        "1_Pooling/config.json": {"word_embedding_dimension": pack.arch["hidden"], **pooling},
    }.items():
        (folder / name).write_text(json.dumps(entries, indent=2) + "\n", encoding="utf-8")
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    (folder / "model.safetensors").chmod(0o644)  # the library makes a file that only its owner may read


def tensor_sha256(path: Path) -> str:
    """The checksum of the tensors of a safetensors file.

    The bytes of the file itself depend on the version of the library that wrote it.
    """
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    digest = hashlib.sha256()
    try:
        tensors = load_file(path)
    except (SafetensorError, OSError) as error:
        return f"unreadable: {error}"
    for name in sorted(tensors):
        digest.update(f"{name} {tensors[name].shape}".encode())
        digest.update(tensors[name].tobytes())
    return digest.hexdigest()


def _native_weights(pack: Int8Pack) -> Tensors:
    """The tensors under the names that transformers gives them."""
    taken = dict(pack.tensors)
    try:
        native = {f"embeddings.{theirs}": taken.pop(ours) for ours, theirs in _EMBEDDINGS.items()}
        for layer in range(pack.arch["layers"]):
            to = f"encoder.layer.{layer}"
            for short, kind in _KINDS.items():
                parts = np.split(taken.pop(f"l{layer}.qkv.{short}"), 3)
                for name, part in zip(("query", "key", "value"), parts, strict=True):
                    native[f"{to}.attention.self.{name}.{kind}"] = np.ascontiguousarray(part)
                for ours, theirs in _LAYER.items():
                    native[f"{to}.{theirs}.{kind}"] = taken.pop(f"l{layer}.{ours}.{short}")
    except KeyError as error:
        _refuse(f"it lacks the tensor {error}")
    if taken:
        _refuse(f"it has a tensor '{next(iter(taken))}', which a RoBERTa of {pack.arch['layers']} layers has not")
    return native


def _config(arch: dict[str, Any]) -> dict[str, Any]:
    return {
        "model_type": "roberta",
        "architectures": ["RobertaModel"],
        "vocab_size": arch["vocab"],
        "hidden_size": arch["hidden"],
        "num_hidden_layers": arch["layers"],
        "num_attention_heads": arch["heads"],
        "intermediate_size": arch["intermediate"],
        "max_position_embeddings": arch["max_positions"],
        "type_vocab_size": arch["type_vocab"],
        "layer_norm_eps": arch["layer_norm_eps"],
        "hidden_act": "gelu",
        "bos_token_id": 0,
        # RoBERTa numbers positions from behind the padding token's id.
        "pad_token_id": arch["position_offset"] - 1,
        "eos_token_id": 2,
        "dtype": "float32",
    }


def _refuse(reason: str) -> NoReturn:
    raise ModelError(f"the 8-bit weights are damaged or of another format ({reason}); download them again")
