"""Keywords as a report shows them: those of both schemes side by side, where they occur, and what is attended to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from masker.analysis.report_data import AttendedWords, KeywordList, KeywordRates
from masker.documents import Documents, subsample
from masker.inference.onnx_backend import OnnxBackend
from masker.keywords import KeywordSet
from masker.keywords.choice import candidate_count, excluded_tokens, select_keywords
from masker.keywords.scheme import scheme_scores
from masker.model import Model
from masker.registry import KEYWORD_SCHEMES

#: The paper's schemes.
SCHEMES = ("attention", "frequency")
#: Words of a list that are shown.
LISTED = 15
#: Most documents whose attention is read: enough for a ranking, and seconds of work.
READ_DOCUMENTS = 500
#: Most classes whose keywords are looked up in each other's texts: their pairs are shown one by one.
READ_CLASSES = 100


def has_tokens(model: Model) -> bool:
    """Whether its tokens and attention can be read: an exported graph has no attention, and may run without torch."""
    return not isinstance(model.backend, OnnxBackend)


def keyword_lists(model: Model, train: Documents | None) -> list[KeywordList]:
    """The keywords that the model was trained with, and those of the paper's other scheme if its data is given."""
    found = [] if model.keywords is None else [_listed(model.keywords, trained_with=True)]
    if train is None or not has_tokens(model):
        return found
    from masker.analysis.paper_figures import Subject

    subject = Subject(model, subsample(train, READ_DOCUMENTS, model.settings.training.seed), {})
    wanted = model.settings.keywords
    excluded = excluded_tokens(
        model.tokenizer, stop_words=wanted.exclude_stop_words, punctuation=wanted.exclude_punctuation
    )
    evidence = subject.evidence()
    for name in SCHEMES:
        scheme = KEYWORD_SCHEMES.get(name)
        possible = subject.has_attention if scheme.reads_attention else len(train.class_names) > 1
        if possible and name not in [shown.scheme for shown in found]:
            scores = scheme_scores(scheme, evidence)
            count = min(
                wanted.count or wanted.per_class * max(1, len(model.classes)), candidate_count(scores, excluded)
            )
            chosen = select_keywords(name, scores, count, model.tokenizer, excluded=excluded)
            found.append(_listed(chosen, trained_with=False))
    return sorted(found, key=lambda shown: shown.scheme)


def _listed(keywords: KeywordSet, *, trained_with: bool) -> KeywordList:
    best = {keyword.word: keyword.score for keyword in reversed(keywords.keywords)}
    words = [{"word": word, "score": float(f"{best[word]:.4g}")} for word in keywords.words[:LISTED]]
    return KeywordList(keywords.source, trained_with, len(keywords), words)


def rates_of_keywords(model: Model, source: Documents, targets: Mapping[str, Documents]) -> KeywordRates | None:
    """How often the keywords of each class of ``source`` occur in each class of the target sets."""
    labelled = {name: documents for name, documents in targets.items() if documents.class_names}
    if not labelled or len(source.class_names) < 2 or not has_tokens(model):
        return None
    from masker.analysis.paper_figures import Subject, class_keyword_rates

    seed = model.settings.training.seed
    sample = _largest_classes(subsample(source, READ_DOCUMENTS, seed))
    sets = {name: _largest_classes(subsample(one, READ_DOCUMENTS, seed)) for name, one in labelled.items()}
    subject = Subject(model, sample, sets)
    scheme = "attention" if subject.has_attention else "frequency"
    found = class_keyword_rates(subject, scheme=scheme)
    rates = found["rates"]
    if len(labelled) == 1:  # nothing to tell apart
        start = len(next(iter(labelled))) + 2
        rates = {source: {name[start:]: rate for name, rate in row.items()} for source, row in rates.items()}
    return KeywordRates(scheme, found["keywords"], rates)


def _largest_classes(documents: Documents) -> Documents:
    """The documents of the classes that have the most; ties by name."""
    sizes = Counter(str(label) for label in documents.labels or [])
    kept = set(sorted(sizes, key=lambda name: (-sizes[name], name))[:READ_CLASSES])
    if len(kept) == len(sizes):
        return documents
    return documents.take([row for row, label in enumerate(documents.labels or []) if str(label) in kept])


def attended_by(models: Mapping[str, Model], documents: Documents, title: str) -> list[AttendedWords]:
    """The words of the documents that each model attends to most; models without attention are left out."""
    found = []
    for name, model in models.items():
        if not has_tokens(model):
            continue
        from masker.analysis.paper_figures import Subject, attended_words

        sample = subsample(documents, READ_DOCUMENTS, model.settings.training.seed)
        subject = Subject(model, sample, {title: sample})
        if subject.has_attention:
            words: Sequence[dict[str, object]] = attended_words(subject)["words"][title]["mean"]
            found.append(AttendedWords(name, title, [dict(word) for word in words]))
    return found
