"""The corpora known by name: what each one is and, as far as known, its terms of use."""

from __future__ import annotations

from typing import NamedTuple


class CatalogueEntry(NamedTuple):
    """One corpus. ``splits`` and ``fields`` describe the files a user has to supply if no source has them."""

    about: str
    terms: str
    splits: tuple[str, ...] = ("train", "test")
    fields: tuple[str, ...] = ("text", "label")


_PAIRS = ("text", "text_pair", "label", "genre")
_BOT = ("train", "test", "ood")
_BOT_TERMS = "ODbL, contents DbCL; cite Arora et al. 2020"
_AMAZON_TERMS = "no explicit licence; research use"

CATALOGUE = {
    "20newsgroups": CatalogueEntry(
        "20 Newsgroups, split by date: raw posts with headers, as the paper uses them, from 20news-bydate.tar.gz; "
        "the hub version has no headers, signatures or quotations, the package version is lower-case words only",
        "Usenet posts; no explicit licence; research use",
    ),
    "amazon20": CatalogueEntry(
        "Amazon reviews of 20 product types (Chen, Ma & Liu 2015), lemmatised; a stand-in for amazon50", _AMAZON_TERMS
    ),
    "amazon24": CatalogueEntry(
        "Amazon reviews in 24 product categories (He & McAuley 2016), tokenised; a stand-in for amazon50", _AMAZON_TERMS
    ),
    "amazon50": CatalogueEntry(
        "Amazon reviews of 50 kinds of electronics (Chen & Liu 2014), split 70:30, from 50EleReviews.json",
        _AMAZON_TERMS,
    ),
    "atis": CatalogueEntry(
        "ATIS, questions to a flight information system by intent; classes are very uneven",
        "LDC; research use",
        ("train", "dev", "test"),
    ),
    "banking77": CatalogueEntry(
        "BANKING77, questions of a bank's customers by intent, 77 classes", "CC BY 4.0; cite Casanueva et al. 2020"
    ),
    "finefood": CatalogueEntry(
        "Amazon Fine Foods, split 70:30: 1 star negative, 5 stars positive; other ratings and duplicates dropped",
        "CC0 on Kaggle; cite McAuley & Leskovec 2013",
    ),
    "grocery": CatalogueEntry(
        "Amazon Grocery and Gourmet Food, positive and negative; in addition to finefood, also a class of amazon24",
        _AMAZON_TERMS,
    ),
    "hint3-curekart": CatalogueEntry(
        "HINT3, what people typed to a shop's chat bot, by intent; ood is what its makers marked as none of them",
        _BOT_TERMS,
        _BOT,
    ),
    "hint3-powerplay11": CatalogueEntry("HINT3, the same for a fantasy-sports bot", _BOT_TERMS, _BOT),
    "hint3-sofmattress": CatalogueEntry("HINT3, the same for a mattress seller's bot", _BOT_TERMS, _BOT),
    "hwu64": CatalogueEntry(
        "HWU64, commands to a home assistant by intent, 64 classes",
        "CC BY 4.0; cite Liu et al. 2019",
        ("train", "dev", "test"),
    ),
    "imdb": CatalogueEntry(
        "IMDB movie reviews; the hub has the official split, the package its training half split 70:30",
        "no explicit licence; research use; cite Maas et al. 2011",
    ),
    "mnli": CatalogueEntry(
        "MultiNLI pairs with a genre; test is the matched and mismatched development sets together",
        "OANC licence; fiction CC BY 3.0 and CC BY-SA 3.0",
        fields=_PAIRS,
    ),
    "mnli-nogenre": CatalogueEntry("MultiNLI training pairs of unknown genre", "as mnli", ("train",), _PAIRS[:3]),
    "reuters": CatalogueEntry(
        "Reuters-21578; the package has R52: 52 topics, one per document, lower-case words only",
        "copyright Reuters; research only",
    ),
    "rotten-tomatoes": CatalogueEntry(
        "Rotten Tomatoes sentences, split 70:30; not in the paper",
        "no explicit licence; research use; cite Pang & Lee 2005",
    ),
    "snips": CatalogueEntry(
        "SNIPS, voice commands by intent, 7 classes", "CC0; cite Coucke et al. 2018", ("train", "dev", "test")
    ),
    "sst2": CatalogueEntry(
        "SST-2: the GLUE training phrases; test is the GLUE development set, whose labels are public",
        "no explicit licence; research use; cite Socher et al. 2013",
    ),
    "stsb": CatalogueEntry(
        "STS Benchmark pairs, scores 0 to 5; genre is the paper's (MSRvid, images, headlines, MSRpar, ...), group the "
        "coarse one",
        "scores CC BY-SA 4.0; each text under its own terms",
        ("train", "dev", "test"),
        _PAIRS,
    ),
    "xnli-en": CatalogueEntry("XNLI, English side, with the genres of mnli", "CC BY-NC", ("dev", "test"), _PAIRS),
}
