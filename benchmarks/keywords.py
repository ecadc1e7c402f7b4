"""Keyword selection: attention against the reference's loop and plain scoring, frequency against scikit-learn."""

from __future__ import annotations

import copy

import numpy as np
import torch

from benchmarks.measure import Row, alternate, compare
from benchmarks.reference import slow_attention_keywords
from benchmarks.setting import Setting, settings_for
from masker.documents.encoding import encode
from masker.inference.torch_backend import TorchBackend
from masker.keywords.frequency import FrequencyScheme
from masker.keywords.scheme import Evidence
from masker.modeling.backbone import load_backbone
from masker.modeling.devices import reads_bf16
from masker.training.keyword_stage import attention_scores_of, content_token_counts


def run(setting: Setting, rounds: int) -> list[Row]:
    classifier = setting.backbone.classifier.eval()
    tokenizer = setting.backbone.tokenizer
    labels = np.asarray(setting.encoded.labels)
    bf16 = reads_bf16("auto", torch.device("cpu"))
    slow_classifier = load_backbone(settings_for("vanilla").model, setting.classes).classifier.eval()
    slow_classifier.set_attn_implementation("eager")
    backend = TorchBackend(copy.deepcopy(classifier), tokenizer, "cpu", bf16=bf16)

    def ours() -> float:
        attention_scores_of(classifier, tokenizer, setting.encoded, labels, len(setting.classes), bf16=bf16)
        return len(setting.encoded)

    def scoring() -> float:
        backend.predict_logits(setting.encoded)
        return len(setting.encoded)

    times = alternate(
        {"slow": lambda: slow_attention_keywords(setting, slow_classifier, 16), "ours": ours, "scoring": scoring},
        rounds,
    )
    rows = [
        compare("attention keywords", "reference's loop over tokens", times["slow"], times["ours"], at_least=30),
        compare("attention keywords", "one scoring pass", times["ours"], times["scoring"], at_most=1.3),
    ]

    from sklearn.feature_extraction.text import TfidfVectorizer

    texts = setting.documents.texts * 8
    many = np.tile(labels, 8)

    def frequency() -> float:
        encoded = encode(tokenizer, texts, None, 512, labels=many)
        counts = content_token_counts(tokenizer, encoded, many, len(setting.classes))
        FrequencyScheme().scores(Evidence(lambda: counts))
        return len(texts)

    def sklearn() -> float:
        TfidfVectorizer().fit_transform(texts)
        return len(texts)

    times = alternate({"sklearn": sklearn, "ours": frequency}, rounds)
    rows.append(
        compare("frequency keywords", "TfidfVectorizer of scikit-learn", times["sklearn"], times["ours"], at_least=1)
    )
    return rows
