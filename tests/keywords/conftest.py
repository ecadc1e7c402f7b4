"""Three small tokenizers, one of each kind, trained on four sentences."""

import pytest
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

TEXTS = ["the apple fell from the tree", "The Apple watch, a watch!", "an apple a day", "tree houses are not apples."]
SPECIAL = {"unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]", "pad_token": "[PAD]"}
SPECIAL["mask_token"] = "[MASK]"


def train(kind):
    names = list(SPECIAL.values())
    if kind == "wordpiece":
        tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
        tokenizer.normalizer = normalizers.BertNormalizer()
        tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        tokenizer.decoder = decoders.WordPiece()
        trainer = trainers.WordPieceTrainer(vocab_size=70, special_tokens=names, show_progress=False)
    elif kind == "bpe":
        tokenizer = Tokenizer(models.BPE())
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        tokenizer.decoder = decoders.ByteLevel()
        alphabet = pre_tokenizers.ByteLevel.alphabet()
        trainer = trainers.BpeTrainer(
            vocab_size=320, special_tokens=names, initial_alphabet=alphabet, show_progress=False
        )
    else:
        tokenizer = Tokenizer(models.Unigram())
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
        tokenizer.decoder = decoders.Metaspace()
        trainer = trainers.UnigramTrainer(vocab_size=60, special_tokens=names, unk_token="[UNK]", show_progress=False)
    tokenizer.train_from_iterator(TEXTS * 20, trainer)
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, **SPECIAL)


@pytest.fixture(scope="module")
def wordpiece():
    return train("wordpiece")


@pytest.fixture(scope="module")
def bpe():
    return train("bpe")


@pytest.fixture(scope="module")
def unigram():
    return train("unigram")
