"""The 8-bit container: made up here byte by byte, read back, and refused when damaged."""

import json

import numpy as np
import pytest
import torch

from masker.errors import ModelError
from masker.modeling.backbone import load_classifier, load_encoder, load_tokenizer
from masker.modeling.int8_pack import MAGIC, read_int8_pack, tensor_sha256, write_roberta_folder
from masker.modeling.pooling import DOCUMENT_TOKEN, declared_pooling

ARCH = {"hidden": 8, "layers": 2, "heads": 2, "intermediate": 16, "vocab": 12, "max_positions": 20, "type_vocab": 2}
ARCH |= {"layer_norm_eps": 1e-12, "position_offset": 2}
META = {"model": "made-up/tiny", "pooling": "cls", "max_length": 18}
WORDS = ["<s>", "<pad>", "</s>", "<unk>", "Ġa", "Ġb", "a", "b", "c", "d", "Ġ", "<mask>"]
GROUP = 4


def tokenizer() -> bytes:
    special = [{"id": WORDS.index(word), "content": word, "single_word": False, "lstrip": False, "rstrip": False,
                "normalized": False, "special": True} for word in WORDS if word.startswith("<")]  # fmt: skip
    model = {"type": "BPE", "dropout": None, "unk_token": "<unk>", "continuing_subword_prefix": "",
             "end_of_word_suffix": "", "fuse_unk": False, "byte_fallback": False, "ignore_merges": False,
             "vocab": {word: number for number, word in enumerate(WORDS)}, "merges": ["Ġ a", "Ġ b"]}  # fmt: skip
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    post = {"type": "RobertaProcessing", "sep": ["</s>", 2], "cls": ["<s>", 0], "trim_offsets": True,
            "add_prefix_space": False}  # fmt: skip
    return json.dumps({"version": "1.0", "truncation": None, "padding": None, "added_tokens": special,
                       "normalizer": None, "pre_tokenizer": level, "post_processor": post, "decoder": level,
                       "model": model}).encode()  # fmt: skip


def shapes() -> dict[str, tuple[int, ...]]:
    h, wide = ARCH["hidden"], ARCH["intermediate"]
    found = {"word_emb": (ARCH["vocab"], h), "pos_emb": (ARCH["max_positions"], h), "type_emb": (2, h)}
    found |= {"emb_ln.w": (h,), "emb_ln.b": (h,)}
    for layer in range(ARCH["layers"]):
        matrices = {"qkv": (3 * h, h), "ao": (h, h), "f1": (wide, h), "f2": (h, wide)}
        for name, shape in matrices.items():
            found |= {f"l{layer}.{name}.w": shape, f"l{layer}.{name}.b": shape[:1]}
        for name in ("aln", "fln"):
            found |= {f"l{layer}.{name}.w": (h,), f"l{layer}.{name}.b": (h,)}
    return found


def made_up() -> tuple[dict, list[bytes]]:
    """A header and the bytes of each tensor; matrices of layers and words in 8 bits."""
    random = np.random.default_rng(0)
    entries, blobs = [], []
    for name, shape in shapes().items():
        if name == "word_emb" or (len(shape) == 2 and name.startswith("l")):
            values = random.integers(-127, 128, shape, dtype=np.int8)
            scales = random.uniform(0.001, 0.01, values.size // GROUP).astype("<f4")
            kind, group, blob = "i8", GROUP, values.tobytes() + scales.tobytes()
        else:
            kind, group, blob = "f32", 0, random.normal(size=shape).astype("<f4").tobytes()
        entries.append({"name": name, "dtype": kind, "shape": list(shape), "len": len(blob), "group": group})
        blobs.append(blob)
    header = {"format": 1, "arch": ARCH, "meta": META, "tokenizer_len": len(tokenizer()), "tensors": entries}
    return header, blobs


def joined(header: dict, blobs: list[bytes]) -> bytes:
    text = json.dumps(header).encode()
    return b"".join([MAGIC, len(text).to_bytes(8, "little"), text, tokenizer(), *blobs])


@pytest.fixture
def folder(tmp_path):
    write_roberta_folder(read_int8_pack(joined(*made_up())), tmp_path)
    return tmp_path


def test_a_weight_is_its_value_times_the_scale_of_its_group():
    """A row of four values in two groups: (1, -2) x 0.5 and (3, 4) x 10 give 0.5, -1, 30, 40."""
    blob = np.array([1, -2, 3, 4], dtype=np.int8).tobytes() + np.array([0.5, 10.0], dtype="<f4").tobytes()
    tensor = {"name": "x", "dtype": "i8", "shape": [1, 4], "len": len(blob), "group": 2}
    header = {"arch": {}, "meta": {}, "tokenizer_len": len(tokenizer()), "tensors": [tensor]}
    assert read_int8_pack(joined(header, [blob])).tensors["x"].tolist() == [[0.5, -1.0, 30.0, 40.0]]


def test_the_folder_is_a_native_roberta(folder):
    classifier, info = load_classifier(str(folder), num_labels=3, output_loading_info=True)
    assert classifier.config.model_type == "roberta" and classifier.config.pad_token_id == 1
    assert {name.split(".")[0] for name in info["missing_keys"]} == {"classifier"}, "only the head is new"
    assert not info["unexpected_keys"]
    tokens = load_tokenizer(str(folder))
    row = tokens("a b<mask>", return_tensors="pt")
    assert row["input_ids"].tolist() == [[0, 6, 5, 11, 2]] and "token_type_ids" not in row
    assert (tokens.pad_token_id, tokens.mask_token_id, tokens.model_max_length) == (1, 11, 18)
    assert torch.isfinite(classifier(**row).logits).all()
    assert declared_pooling(str(folder)) == DOCUMENT_TOKEN
    assert (folder / "model.safetensors").stat().st_mode & 0o777 == 0o644, "another user of the cache can read it"


def test_queries_keys_and_values_lie_on_top_of_each_other(folder):
    pack = read_int8_pack(joined(*made_up()))
    attention = load_encoder(str(folder)).encoder.layer[1].attention.self
    stacked = torch.cat([attention.query.weight, attention.key.weight, attention.value.weight])
    assert np.array_equal(stacked.detach().numpy(), pack.tensors["l1.qkv.w"])


def test_the_checksum_is_that_of_the_tensors(folder):
    from safetensors.numpy import load_file, save_file

    weights = folder / "model.safetensors"
    before, tensors = tensor_sha256(weights), load_file(weights)
    save_file(tensors, weights, metadata={"written by": "another version"})
    assert tensor_sha256(weights) == before
    tensors["embeddings.LayerNorm.bias"][0] += 1
    save_file(tensors, weights)
    assert tensor_sha256(weights) != before
    weights.write_bytes(weights.read_bytes()[:-1])
    assert tensor_sha256(weights).startswith("unreadable")


def damaged(change):
    header, blobs = made_up()
    change(header, blobs)
    return joined(header, blobs)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "starts with"),
        (b"PK\x03\x04 a zip", "starts with"),
        (MAGIC + b"\xff" * 8 + b"{}", "header cannot be read"),
        (joined(*made_up())[:40], "header cannot be read"),
        (joined(*made_up())[:-1], "its header announces"),
        (joined(*made_up()) + b"x", "its header announces"),
        (damaged(lambda header, _: header.pop("arch")), "header cannot be read: KeyError 'arch'"),
        (damaged(lambda header, _: header["tensors"][0].update(dtype="f16")), "type 'f16', neither i8 nor f32"),
        (damaged(lambda header, _: header["tensors"][0].update(group=5)), "header cannot be read: ValueError"),
        (damaged(lambda header, _: header["tensors"][1].update(shape=[3, 3])), "header cannot be read: ValueError"),
    ],
)
def test_a_damaged_file_is_refused(content, reason):
    with pytest.raises(ModelError, match=reason) as caught:
        read_int8_pack(content)
    assert "\n" not in str(caught.value)


def test_tensors_that_do_not_make_a_roberta_are_refused(tmp_path):
    missing = damaged(lambda header, blobs: (header["tensors"].pop(), blobs.pop()))
    with pytest.raises(ModelError, match=r"lacks the tensor 'l1\.fln\.b'"):
        write_roberta_folder(read_int8_pack(missing), tmp_path)
    more = damaged(lambda header, _: header.update(arch={**ARCH, "layers": 1}))
    with pytest.raises(ModelError, match=r"a tensor 'l1\.qkv\.w', which a RoBERTa of 1 layers has not"):
        write_roberta_folder(read_int8_pack(more), tmp_path)
    assert list(tmp_path.iterdir()) == []
