"""The documents and models that the benchmarks run on."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from masker.config import DataSettings, Settings, build_settings
from masker.documents import Documents, detection_split, read_documents, subsample
from masker.documents.encoding import Encoded, encode
from masker.keywords import KeywordSet
from masker.labels import class_indices
from masker.masking.collator import Collator
from masker.modeling.backbone import Backbone, load_backbone
from masker.modeling.network import MaskerNetwork
from masker.modeling.tokens import special_ids_of
from masker.training.keyword_stage import choose_keywords
from masker.training.training_stage import make_views

#: The reference code truncates documents to this many characters.
CHARACTERS = 512
BATCH = 16


@dataclass(frozen=True)
class Setting:
    """Five classes of 20 Newsgroups, the embedded backbone, frequency keywords."""

    documents: Documents
    classes: list[str]
    backbone: Backbone
    encoded: Encoded
    keywords: KeywordSet
    special: list[int]

    def collator(self, settings: Settings | None) -> Collator:
        views = None if settings is None else make_views(settings, self.keywords, self.backbone.tokenizer)
        return Collator(self.backbone.tokenizer.pad_token_id, self.special, views)


def settings_for(method: str, **sections: dict[str, Any]) -> Settings:
    return build_settings({"model": {"max_length": 512}, "training": {"method": method, "batch_size": BATCH}}, sections)


@cache
def load_setting(count: int = 384) -> Setting:
    everything = read_documents("20newsgroups:train", DataSettings(), require_labels=True)
    documents = subsample(detection_split(everything, everything, 0.25, 0).train, count, 0)
    documents = Documents([text[:CHARACTERS] for text in documents.texts], None, documents.labels, documents.name)
    classes = documents.class_names
    settings = settings_for("masker", keywords={"source": "frequency"})
    backbone = load_backbone(settings.model, classes)
    labels = class_indices(documents.labels or [], classes)
    encoded = encode(backbone.tokenizer, documents.texts, None, backbone.max_length, labels=labels)
    keywords = _common_keywords(settings, backbone, encoded, len(classes))
    return Setting(documents, classes, backbone, encoded, keywords, sorted(special_ids_of(backbone.tokenizer)))


def _common_keywords(settings: Settings, backbone: Backbone, encoded: Encoded, n_classes: int) -> KeywordSet:
    """Attention keywords of the untrained encoder.

    The frequency scheme chooses rare words, which would flatter us: a document without keywords costs less.
    """
    attention = build_settings(settings.model_dump(), {"keywords": {"source": "attention"}})
    return choose_keywords(attention, backbone.tokenizer, encoded, n_classes, lambda: backbone.classifier)


def fresh_network(setting: Setting, settings: Settings, reconstruct: bool) -> MaskerNetwork:
    backbone = load_backbone(settings.model, setting.classes)
    return MaskerNetwork(backbone.classifier, len(setting.keywords.target_ids) if reconstruct else 0)
