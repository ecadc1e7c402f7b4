"""What a person should conclude from a report, in words. Plain rules over its figures; hedged where there are few."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from masker.analysis.answers import mix_ups
from masker.analysis.report_data import ClassFigures, DetectionCurve, Figure, KnownDocuments, ModelFacts

#: With fewer documents a figure is a first impression.
FEW = 100
#: Probability of singling out a class that is no weaker than the others.
CHANCE = 0.05
#: Lowest plausible AUROC (the lower end of its interval) -> what it says.
SEPARATION = ((0.95, "very well"), (0.85, "well"), (0.75, "fairly"), (0.6, "weakly"))
#: A calibration error up to here is small, and up to there moderate.
SMALL_ERROR, MODERATE_ERROR = 0.03, 0.08
#: What is proposed where it catches this much more.
MORE_ALARMS, MUCH = 0.1, 0.1
#: A mix-up is named if it happens at least this often.
FREQUENT = 3


def conclude(
    model: ModelFacts,
    evaluation: dict[str, Any] | None,
    known: KnownDocuments | None = None,
    detection: Mapping[str, DetectionCurve] | None = None,
) -> list[str]:
    """A few sentences for readers who look at nothing else."""
    if evaluation is None:
        return ["No labelled documents were given, and the model kept none: measure it with --test FILE."]
    if "regression" in evaluation:
        return _regression(evaluation)
    if known is None:
        raise ValueError("an evaluation of classes comes with its documents")
    return [
        *(
            ["These are the very texts it was trained on: no figure here says anything about new text."]
            if known.trained_on
            else []
        ),
        *_answers(known),
        *_weak_classes(known),
        *_mix_up(known),
        _confidence(evaluation, known),
        *_false_alarms(model, evaluation, known),
        *_foreign(evaluation, detection or {}),
        *_hedge(evaluation, known),
    ]


def _regression(evaluation: dict[str, Any]) -> list[str]:
    figures, count = evaluation["regression"], evaluation["documents"]
    pearson = figures["pearson"]
    sentence = (
        f"On {count} texts, predicted and true values correlate with {pearson['value']:.2f} "
        f"(Pearson, 95 % interval {pearson['low']:.2f} to {pearson['high']:.2f})."
    )
    return [sentence] if count >= FEW else [sentence, _few(count)]


def _answers(known: KnownDocuments) -> list[str]:
    accuracy = known.right
    if known.held_out:
        first = (
            f"Of {known.documents} held-out documents, each judged by a network that was not trained on it, "
            f"{share(accuracy)} were put into the right class."
        )
        if not known.separate:
            first += " They also helped to choose the model, so expect slightly less on new text."
    else:
        first = f"Of {known.documents} texts of {known.name}, the model puts {share(accuracy)} into the right class."
    if accuracy["low"] <= known.majority:
        first += f" Naming the most frequent class every time would be right for {100 * known.majority:.0f} %, so this "
        first += "does not show that it has learnt anything."
    return [first]


def _weak_classes(known: KnownDocuments) -> list[str]:
    weak = sorted((row for row in known.classes if _is_weak(row, known)), key=lambda row: row.right["value"])
    if not weak:
        return []
    named = _listing([_hits(row) for row in weak[:3]])
    more = f", and {len(weak) - 3} more (see the figure of classes)" if len(weak) > 3 else ""
    return [f"Clearly weaker than the rest: {named}{more}."]


def _is_weak(row: ClassFigures, known: KnownDocuments) -> bool:
    """Whether chance does not explain it, given how many classes are looked at (Bonferroni)."""
    from scipy.stats import binomtest

    found = binomtest(_right(row), row.documents, known.right["value"], alternative="less")
    return bool(found.pvalue < CHANCE / len(known.classes))


def _right(row: ClassFigures) -> int:
    return round(row.documents * row.right["value"])


def _hits(row: ClassFigures) -> str:
    return f"“{row.name}” ({_right(row)} of {row.documents} right)"


def _mix_up(known: KnownDocuments) -> list[str]:
    worst = next(iter(mix_ups(known.confusion)), None)
    if worst is None or worst["count"] < FREQUENT:
        return []
    return [f"The most frequent mix-up is “{worst['true']}” taken for “{worst['answer']}” ({worst['count']} times)."]


def _confidence(evaluation: dict[str, Any], known: KnownDocuments) -> str:
    error = evaluation["classification"]["ece"]
    low, high = (100 * error[end] for end in ("low", "high"))
    points = f"{100 * error['value']:.1f} percentage points on average (95 % interval {low:.1f} to {high:.1f})"
    if error["low"] > MODERATE_ERROR:
        advice = "" if known.held_out else "; recalibrate it on texts like these (masker calibrate)"
        return f"Do not take its confidence at face value: it is off by {points}{advice}."
    if error["high"] <= SMALL_ERROR:
        return f"Its confidence can be taken at its word: it is off by {points}."
    if error["value"] <= MODERATE_ERROR:
        return f"Its confidence is a fair guide: it is off by {points}."
    return f"How far its confidence can be trusted is not clear from so few texts: it is off by {points}."


def _false_alarms(model: ModelFacts, evaluation: dict[str, Any], known: KnownDocuments) -> list[str]:
    if model.promised is None:
        return [f"It rejects {share(evaluation['false_alarms']['realised'])} of them by a published rule."]
    promise = f"at most {100 * model.promised:.3g} %"
    sure = " on average" if model.confidence is None else f" with {100 * model.confidence:.6g} % confidence"
    if known.held_out:
        return [f"It is set to reject {promise} of texts that belong to a class{sure}."]
    alarms = evaluation["false_alarms"]
    seen = f"It rejects {share(alarms['realised'])} of the texts that belong to a class; {promise} was promised{sure}"
    low, high = alarms["rate_interval"]
    if alarms["realised"]["low"] <= model.promised:
        return [f"{seen}, which fits."]
    if model.confidence is None and alarms["realised"]["low"] <= high:
        within = f"a single model's rate may lie between {100 * low:.1f} and {100 * high:.1f} %"
        return [f"{seen}. With {alarms['held_out']} held-out documents {within}, so that is no surprise."]
    return [f"{seen}. That is more: these texts differ from those it was calibrated on (masker calibrate helps)."]


def _foreign(evaluation: dict[str, Any], detection: Mapping[str, DetectionCurve]) -> list[str]:
    if not evaluation["ood"]:
        return ["Nothing here shows how much foreign text it notices: give examples with --ood FILE."]
    return [
        f"Of {figures['documents']} foreign texts of {name} it rejects {100 * figures['rejected']:.0f} %; its score "
        f"tells them apart {_separation(figures['auroc'])} (AUROC {figures['auroc']['value']:.3f}, 95 % interval "
        f"{figures['auroc']['low']:.3f} to {figures['auroc']['high']:.3f}).{_remedy(detection.get(name))}"
        for name, figures in evaluation["ood"].items()
    ]


def _remedy(curve: DetectionCurve | None) -> str:
    """What a higher rate of false alarms would buy, if that is much."""
    if curve is None or curve.point[0] >= MORE_ALARMS:
        return ""
    caught = max(
        true for false, true in zip(curve.false_positives, curve.true_positives, strict=True) if false <= MORE_ALARMS
    )
    if caught < curve.point[1] + MUCH:
        return ""
    return f" With {100 * MORE_ALARMS:.0f} % false alarms it would reject {100 * caught:.0f} % (--false-alarm-rate)."


def _separation(auroc: Figure) -> str:
    words = (word for least, word in SEPARATION if auroc["low"] >= least)
    return next(words, "hardly better than chance" if auroc["low"] < 0.55 else "very weakly")


def _hedge(evaluation: dict[str, Any], known: KnownDocuments) -> list[str]:
    counts = [known.documents, *(figures["documents"] for figures in evaluation["ood"].values())]
    return [_few(min(counts))] if min(counts) < FEW else []


def _few(count: int) -> str:
    return f"With only {count} texts this is a first impression: the intervals say how wide of the mark it may be."


def share(figure: Figure) -> str:
    """A share in percent with its interval."""
    value, low, high = (100 * figure[key] for key in ("value", "low", "high"))
    return f"{value:.1f} % (95 % interval {low:.1f} to {high:.1f} %)"


def _listing(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
