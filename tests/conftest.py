"""Shared fixtures: a small corpus, and a tiny encoder of each family, built on the spot."""

from __future__ import annotations

import os
import random
import sys
from pathlib import Path

import pytest

os.environ.setdefault("HF_HUB_OFFLINE", "1")  # no test contacts the hub
# Tiny models gain nothing from threads and lose a lot when other processes share the cores.
os.environ.setdefault("OMP_NUM_THREADS", "1")

FAMILIES = ("bert", "roberta", "albert", "mpnet")

_TOPICS = {
    "space": ["rocket", "orbit", "moon", "launch", "shuttle", "planet", "satellite", "astronaut"],
    "food": ["bread", "soup", "cheese", "recipe", "kitchen", "garlic", "pepper", "dinner"],
    "sport": ["goal", "player", "season", "coach", "league", "ball", "stadium", "score"],
}
_FILLER = "the a of and we they saw found near old new very quite again with was is in on today yesterday some".split()


def pytest_sessionfinish() -> None:
    """Save what ``make coverage`` has counted: a process of xdist that takes long to end is killed."""
    coverage = sys.modules.get("coverage")
    running = coverage.Coverage.current() if coverage is not None else None
    if running is not None:
        running.save()


def make_corpus(count: int, seed: int = 0, topics: dict[str, list[str]] = _TOPICS) -> tuple[list[str], list[str]]:
    """Sentences with topic words of one class among filler words."""
    draw = random.Random(seed)
    texts, labels = [], []
    for index in range(count):
        label = list(topics)[index % len(topics)]
        words = draw.choices(topics[label], k=3) + draw.choices(_FILLER, k=draw.randint(5, 12))
        draw.shuffle(words)
        texts.append(" ".join(words))
        labels.append(label)
    return texts, labels


@pytest.fixture(scope="session")
def corpus() -> tuple[list[str], list[str]]:
    return make_corpus(120)


def _tokenizer(family: str, texts: list[str]):
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    if family in ("bert", "mpnet"):
        special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
        if family == "mpnet":  # its embeddings count positions from behind padding token 1
            special = ["<s>", "<pad>", "</s>", "[UNK]", "<mask>"]
        # The trainer numbers inner letters in the order of a hash map that differs between processes, and breaks ties
        # by number. Letters it was given first keep their numbers; they must not stay special tokens, so the vocabulary
        # moves to a tokenizer of its own.
        letters = [f"##{letter}" for letter in sorted(set("".join(texts)) - {" "})]
        learner = Tokenizer(models.WordPiece(unk_token="[UNK]"))
        learner.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        learner.train_from_iterator(
            texts, trainers.WordPieceTrainer(vocab_size=220, special_tokens=[*special, *letters])
        )
        tokenizer = Tokenizer(models.WordPiece(learner.get_vocab(), unk_token="[UNK]"))
        tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
        tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        tokenizer.decoder = decoders.WordPiece()
        trainer = None
        names = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
        names["mask_token"] = "[MASK]"
        single, pair = "[CLS]:0 $A:0 [SEP]:0", "[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1"
        if family == "mpnet":
            names = {"bos_token": "<s>", "cls_token": "<s>", "eos_token": "</s>", "sep_token": "</s>"}
            names |= {"pad_token": "<pad>", "unk_token": "[UNK]", "mask_token": "<mask>"}
            single, pair = "<s> $A </s>", "<s> $A </s> </s> $B </s>"
    elif family == "roberta":
        special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
        tokenizer = Tokenizer(models.BPE())
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        tokenizer.decoder = decoders.ByteLevel()
        trainer = trainers.BpeTrainer(
            vocab_size=500, special_tokens=special, initial_alphabet=pre_tokenizers.ByteLevel.alphabet()
        )
        names = {"bos_token": "<s>", "cls_token": "<s>", "eos_token": "</s>", "sep_token": "</s>"}
        names |= {"pad_token": "<pad>", "unk_token": "<unk>", "mask_token": "<mask>"}
        single, pair = "<s> $A </s>", "<s> $A </s> </s> $B </s>"
    else:
        special = ["<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]"]
        tokenizer = Tokenizer(models.Unigram())
        tokenizer.normalizer = normalizers.Lowercase()
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
        tokenizer.decoder = decoders.Metaspace()
        trainer = trainers.UnigramTrainer(vocab_size=200, special_tokens=special, unk_token="<unk>")
        names = {"pad_token": "<pad>", "unk_token": "<unk>", "cls_token": "[CLS]", "sep_token": "[SEP]"}
        names["mask_token"] = "[MASK]"
        single, pair = "[CLS]:0 $A:0 [SEP]:0", "[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1"
    if trainer is not None:
        tokenizer.train_from_iterator(texts, trainer)
    used = {name: tokenizer.token_to_id(name) for name in (names["cls_token"], names["sep_token"])}
    tokenizer.post_processor = processors.TemplateProcessing(
        single=single, pair=pair, special_tokens=list(used.items())
    )
    inputs = (
        ["input_ids", "attention_mask"]
        if family in ("roberta", "mpnet")
        else ["input_ids", "token_type_ids", "attention_mask"]
    )
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=64, model_input_names=inputs, **names)


def _model(family: str, tokenizer):
    import torch
    from transformers import (
        AlbertConfig,
        AlbertModel,
        BertConfig,
        BertModel,
        MPNetConfig,
        MPNetModel,
        RobertaConfig,
        RobertaModel,
    )

    torch.manual_seed(0)
    shape = {
        "vocab_size": len(tokenizer),
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "intermediate_size": 64,
        "pad_token_id": tokenizer.pad_token_id,
    }
    if family == "bert":
        return BertModel(BertConfig(max_position_embeddings=64, **shape))
    if family == "roberta":
        return RobertaModel(RobertaConfig(max_position_embeddings=66, type_vocab_size=1, **shape))
    if family == "mpnet":
        return MPNetModel(MPNetConfig(max_position_embeddings=66, **shape))
    return AlbertModel(AlbertConfig(max_position_embeddings=64, embedding_size=16, **shape))


def make_backbone(family: str, folder: Path) -> str:
    """Write a tiny encoder and its tokenizer."""
    tokenizer = _tokenizer(family, make_corpus(300)[0])
    _model(family, tokenizer).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return str(folder)


@pytest.fixture(scope="session")
def tiny_backbones(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The folder of a tiny encoder of each family."""
    return {family: make_backbone(family, tmp_path_factory.mktemp("backbones") / family) for family in FAMILIES}


@pytest.fixture(scope="session")
def tiny_settings(tiny_backbones: dict[str, str]):
    """Settings that train a tiny encoder in seconds; ``tiny_settings(family, section={...})``."""
    from masker.config import build_settings

    def build(family: str = "bert", **sections):
        base = {
            "model": {"backbone": tiny_backbones[family], "max_length": 48},
            "training": {
                "epochs": 2,
                "batch_size": 8,
                "learning_rate": 2e-3,
                "head_lr_scale": 1.0,
                "precision": "fp32",
            },
        }
        return build_settings(base, sections)

    return build


@pytest.fixture
def quick_trainings(tiny_backbones: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Trainings with nothing set take a second: a tiny encoder in place of the embedded ones, and few steps."""
    from pathlib import Path

    from masker.registry import KEYWORD_SCHEMES, METHODS, SCORES
    from masker.training import schedule

    monkeypatch.setattr("masker.modeling.backbone.embedded_folder", lambda name: Path(tiny_backbones["bert"]))
    for name in ("LEAST_STEPS", "FOLD_STEPS", "FOLD_STEPS_OF_FEW", "KEYWORD_STEPS", "EPOCHS"):
        monkeypatch.setattr(schedule, name, 1)
    for registry in (METHODS, SCORES, KEYWORD_SCHEMES):  # what is registered meanwhile goes again
        monkeypatch.setattr(registry, "_entries", dict(registry.items()))


@pytest.fixture(scope="session")
def ray_session():
    """A Ray cluster of two workers, shared by all tests because starting it takes seconds."""
    pytest.importorskip("ray", reason="Ray is not installed; pip install 'masker[ray]'")
    from masker.ray.cluster import open_cluster

    os.environ.pop("RAY_ADDRESS", None)
    with open_cluster(pieces=2, workers=2) as cluster:
        yield cluster


def fit_classifier(documents, settings, work):
    """A fitted MaskerClassifier, trained in a work folder that stays."""
    from masker import MaskerClassifier, Model

    return MaskerClassifier.of(Model.fit(documents, settings, work))


def train_network(documents, classes, settings, work):
    """Train as the method says, without a detector; ``network``, ``tokenizer``, ``keywords`` and ``validation``."""
    from types import SimpleNamespace

    import torch

    from masker.modeling.network import MaskerNetwork
    from masker.registry import METHODS
    from masker.training.run import TrainingRun

    run = TrainingRun(documents, classes, settings, work)
    backend = METHODS.get(settings.training.method).train(run)
    tensors = backend.weights().tensors
    network = MaskerNetwork(backend.classifier, len(tensors.get("token_head.bias", ())))
    if tensors:
        head = {name.removeprefix("token_head."): torch.from_numpy(part) for name, part in tensors.items()}
        network.token_head.load_state_dict(head)
    return SimpleNamespace(
        network=network, tokenizer=run.tokenizer, keywords=run.keywords, validation=run.validation, run=run
    )


def count_steps(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A list that gets, at every step trained from now on, the folder that its stage is in, such as ``fold-3``."""
    from masker.training.trainer import MaskerTrainer

    steps: list[str] = []
    step = MaskerTrainer.training_step

    def counted(trainer, *args, **options):
        steps.append(trainer.args.output_dir.rsplit("/", 2)[1])
        return step(trainer, *args, **options)

    monkeypatch.setattr(MaskerTrainer, "training_step", counted)
    return steps
