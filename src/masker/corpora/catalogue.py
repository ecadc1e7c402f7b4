"""What each corpus known by name is, and on which terms it may be used, as far as that is known."""

from __future__ import annotations

from typing import NamedTuple


class Entry(NamedTuple):
    """One corpus: what it is, its terms, the splits it has where nothing else tells, and the fields of its lines."""

    about: str
    terms: str
    splits: tuple[str, ...] = ("train", "test")
    fields: tuple[str, ...] = ("text", "label")


_PAIRS = ("text", "text_pair", "label", "genre")
_AMAZON_TERMS = "no explicit licence; research use"

CATALOGUE = {
    "20newsgroups": Entry(
        "20 Newsgroups, split by date; the hub's text has no headers, signatures and quotations, the package's is "
        "lower-case words only, the paper's is raw",
        "Usenet posts; no explicit licence; research use",
    ),
    "amazon20": Entry(
        "Amazon reviews of 20 product types (Chen, Ma & Liu 2015), lemmatised; stands in for amazon50",
        _AMAZON_TERMS,
    ),
    "amazon24": Entry(
        "Amazon reviews of 24 product categories (He & McAuley 2016), tokenised; stands in for amazon50",
        _AMAZON_TERMS,
    ),
    "amazon50": Entry(
        "Amazon reviews of 50 kinds of electronics (Chen & Liu 2014), cut 70:30, from 50EleReviews.json",
        _AMAZON_TERMS,
    ),
    "finefood": Entry(
        "Amazon Fine Foods: 1 star negative, 5 stars positive, others and repeated texts left out, cut 70:30",
        "CC0 on Kaggle; cite McAuley & Leskovec 2013",
    ),
    "grocery": Entry(
        "Amazon Grocery and Gourmet Food, positive and negative; beside finefood, and part of amazon24",
        _AMAZON_TERMS,
    ),
    "imdb": Entry(
        "IMDB movie reviews; the hub has the official split, the package its training half cut 70:30",
        "no explicit licence; research use; cite Maas et al. 2011",
    ),
    "mnli": Entry(
        "MultiNLI pairs with a genre; test joins the matched and the mismatched development part",
        "OANC licence; fiction CC BY 3.0 and CC BY-SA 3.0",
        fields=_PAIRS,
    ),
    "mnli-nogenre": Entry(
        "MultiNLI training pairs of unknown genre",
        "as mnli",
        ("train",),
        _PAIRS[:3],
    ),
    "reuters": Entry(
        "Reuters-21578; the package has R52: one topic a document, 52 topics, lower-case words only",
        "copyright Reuters; research only",
    ),
    "rotten-tomatoes": Entry(
        "Rotten Tomatoes sentences, cut 70:30; not in the paper",
        "no explicit licence; research use; cite Pang & Lee 2005",
    ),
    "sst2": Entry(
        "SST-2: GLUE's training phrases; test is GLUE's development part, whose labels are public",
        "no explicit licence; research use; cite Socher et al. 2013",
    ),
    "stsb": Entry(
        "STS Benchmark pairs, scores 0 to 5; genre is the paper's (MSRvid, images, headlines, MSRpar, ...), group the "
        "coarse one",
        "scores CC BY-SA 4.0; texts each on their own terms",
        ("train", "dev", "test"),
        _PAIRS,
    ),
    "xnli-en": Entry(
        "XNLI, English side, with the genres of mnli",
        "CC BY-NC",
        ("dev", "test"),
        _PAIRS,
    ),
}
