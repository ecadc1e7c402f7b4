"""What the measured documents say of each keyword, and examples in which one of them decides."""

from __future__ import annotations

from collections import Counter

import numpy as np

from masker.audit.answers import AnsweredDocuments, Occlusions
from masker.audit.choice import ChosenKeywords
from masker.audit.counts import WordCounts
from masker.audit.result import AuditedKeyword, Flip
from masker.audit.words import Vocabulary

#: Characters of a document that an example shows.
EXCERPT = 200


def audited_keywords(
    chosen: ChosenKeywords,
    classes: list[str],
    effects: Occlusions,
    vocabulary: Vocabulary,
    counts: WordCounts,
) -> dict[str, list[AuditedKeyword]]:
    """The keywords of each class, those that carry most first.

    Args:
        chosen: The keywords.
        classes: Names of the classes.
        effects: What masking each of them alone does to the measured documents.
        vocabulary: The words.
        counts: Occurrences in the audited data and, if there is one, in another corpus.
    """
    sums = np.zeros(len(vocabulary))
    np.add.at(sums, effects.words, effects.drops)
    having = np.bincount(effects.words, minlength=len(vocabulary))
    flips = np.bincount(effects.words[effects.flipped], minlength=len(vocabulary))
    total = max(float(np.maximum(sums[chosen.words], 0).sum()), 1e-12)
    found: dict[str, list[AuditedKeyword]] = {name: [] for name in classes}
    for word, label, score in zip(chosen.words, chosen.classes, chosen.scores, strict=True):
        found[classes[label]].append(
            AuditedKeyword(
                vocabulary.words[word],
                float(score),
                int(having[word]),
                float(sums[word] / max(1, having[word])),
                int(flips[word]),
                float(max(0.0, sums[word]) / total),
                *(counts.per_million(int(word)) if len(counts.totals) > 1 else (*counts.per_million(int(word)), None)),
            )
        )
    return {name: sorted(rows, key=lambda row: -row.carried) for name, rows in found.items()}


def flips(
    answered: AnsweredDocuments,
    effects: Occlusions,
    chosen: ChosenKeywords,
    classes: list[str],
    vocabulary: Vocabulary,
    per_class: int,
) -> dict[str, list[Flip]]:
    """For each class the flips by its keywords in which most confidence is lost, no document twice.

    The best example of every keyword comes before the second of any.
    """
    owner = dict(zip(chosen.words.tolist(), chosen.classes.tolist(), strict=True))
    found: dict[str, list[Flip]] = {}
    shown: set[int] = set()
    order = np.flatnonzero(effects.flipped)
    order = order[np.argsort(-effects.drops[order], kind="stable")]
    seen: Counter[int] = Counter()
    turn = []
    for word in effects.words[order].tolist():
        turn.append(seen[word])
        seen[word] += 1
    for place in order[np.argsort(turn, kind="stable")]:
        row, word = int(effects.rows[place]), int(effects.words[place])
        examples = found.setdefault(classes[owner[word]], [])
        if row in shown or len(examples) >= per_class:
            continue
        shown.add(row)
        before, spelled, after = _excerpt(answered, row, word)
        instead = effects.probabilities[place]
        examples.append(
            Flip(
                before,
                spelled,
                after,
                vocabulary.words[word],
                classes[answered.gold[row]],
                classes[answered.predicted[row]],
                float(answered.confidences[row]),
                classes[int(instead.argmax())],
                float(instead.max()),
            )
        )
    return {name: found[name] for name in classes if found.get(name)}


def _excerpt(answered: AnsweredDocuments, row: int, word: int) -> tuple[str, str, str]:
    """The first occurrence of a word as it is spelled, with the text around it cut to :data:`EXCERPT` characters."""
    words, documents = answered.words, answered.documents
    part, start, end = words.spans[row][int(np.flatnonzero(words.words[row] == word)[0])]
    text = documents.texts[row] if part == 0 or documents.pairs is None else documents.pairs[row]
    before, after = " ".join(text[:start].split()), " ".join(text[end:].split())
    room = EXCERPT // 2
    lead = " " if text[:start][-1:].isspace() else ""
    tail = " " if text[end : end + 1].isspace() else ""
    return (
        ("…" + before[-room:] if len(before) > room else before) + lead,
        text[start:end],
        tail + (after[:room] + "…" if len(after) > room else after),
    )
