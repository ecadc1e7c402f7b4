"""Classifiers with a known reliance on keywords, and tiny ones of every family."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from transformers import AutoModelForSequenceClassification, PreTrainedConfig, PreTrainedModel
from transformers.modeling_outputs import SequenceClassifierOutput

from masker.audit.audited_model import as_audited
from masker.audit.hiding import answer_documents
from masker.audit.words import Vocabulary
from masker.documents import Documents
from masker.modeling.backbone import load_tokenizer
from tests.conftest import _TOPICS, make_corpus

TOPICS = _TOPICS
CLASSES = sorted(TOPICS)
#: A bag of words that knows every topic word.
WEIGHTS = {word: {name: 4.0} for name, words in TOPICS.items() for word in words}


class BagOfWordsConfig(PreTrainedConfig):
    model_type = "test-bag-of-words"
    vocab_size: int = 1


class BagOfWords(PreTrainedModel):
    """Sums a weight for each token; ``weights`` is (V, C)."""

    config_class = BagOfWordsConfig
    base_model_prefix = "bag"

    def __init__(self, config, weights):
        super().__init__(config)
        self.weights = torch.nn.Parameter(weights)
        self.rows = 0

    def forward(self, input_ids, attention_mask=None, **_):
        self.rows += len(input_ids)
        seen = torch.ones_like(input_ids) if attention_mask is None else attention_mask
        return SequenceClassifierOutput(logits=(self.weights[input_ids] * seen.unsqueeze(2)).sum(dim=1))


@pytest.fixture(scope="session")
def bag_of_words(tiny_backbones):
    """``bag_of_words(weights)``, with weights by word and class, returns (classifier, tokenizer)."""

    def build(words: dict[str, dict[str, float]], classes=CLASSES, **config):
        tokenizer = load_tokenizer(tiny_backbones["bert"])
        weights = torch.zeros(len(tokenizer), len(classes))
        for word, by_class in words.items():
            [token] = tokenizer.encode(word, add_special_tokens=False)
            for name, weight in by_class.items():
                weights[token, classes.index(name)] = weight
        names = dict(enumerate(classes))
        shape = BagOfWordsConfig(vocab_size=len(tokenizer), num_labels=len(classes), id2label=names, **config)
        return BagOfWords(shape, weights), tokenizer

    return build


@pytest.fixture(scope="session")
def topic_documents() -> Documents:
    texts, labels = make_corpus(240)
    return Documents(texts, None, labels, "topics")


@pytest.fixture
def answered_topics(bag_of_words, topic_documents):
    """A model that sums topic words, and its answers: (model, answers, vocabulary)."""

    def build(words=WEIGHTS, documents=topic_documents):
        model, vocabulary = as_audited(*bag_of_words(words)), Vocabulary()
        return model, answer_documents(model, documents, vocabulary, "drop"), vocabulary

    return build


@pytest.fixture(scope="session")
def tiny_classifiers(tiny_backbones, tmp_path_factory) -> dict[str, Path]:
    """Folders as plain transformers writes them: an encoder with a head of 3 classes, no masker file."""
    folders = {}
    for family, source in tiny_backbones.items():
        torch.manual_seed(1)
        classifier = AutoModelForSequenceClassification.from_pretrained(
            source, num_labels=3, id2label=dict(enumerate(CLASSES)), label2id={n: i for i, n in enumerate(CLASSES)}
        )
        folders[family] = tmp_path_factory.mktemp("classifiers") / family
        classifier.save_pretrained(folders[family])
        load_tokenizer(source).save_pretrained(folders[family])
    return folders
