"""The page of an audit: one self-contained HTML file, without scripts or links."""

from __future__ import annotations

from html import escape

from masker.audit import Audit, AuditComparison
from masker.audit.reliance import RelianceIntervals
from masker.report.svg import bar_chart, heat_map, interval_chart, line_chart

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; color: #222; background: #fff; max-width: 60rem; margin: 2rem auto;
       padding: 0 1rem; }
h1 { font-size: 1.6rem; margin-bottom: 0; } h2 { font-size: 1.2rem; margin-top: 2.2rem; } h3 { font-size: 1rem; }
p.lead { font-size: 1.15rem; } .muted { color: #666; } svg { max-width: 100%; height: auto; }
table { border-collapse: collapse; font-size: 0.92rem; } td, th { padding: 0.2rem 0.7rem; text-align: right;
       border-bottom: 1px solid #e8e8e5; } td:first-child, th:first-child { text-align: left; }
.tables { display: flex; flex-wrap: wrap; gap: 1rem 2.5rem; align-items: flex-start; }
blockquote { margin: 0.8rem 0; padding: 0.4rem 0.9rem; border-left: 3px solid #d5d5d0; }
.wide { overflow-x: auto; } .wide svg { max-width: none; }
mark { background: #fbe3b8; padding: 0 0.15em; } hr { border: 0; border-top: 1px solid #ccc; margin: 3rem 0; }
"""
_SCHEMES = {
    "occlusion": "words without which the model is less confident",
    "attention": "words that the model attends to most, without stop words",
    "frequency": "words that set a class of the data apart",
}


def audit_page(found: Audit | AuditComparison) -> str:
    """The page as HTML text."""
    if isinstance(found, AuditComparison):
        title = f"{found.audit.model} against {found.against.model}"
        body = [*_comparison(found), "<hr>", *_audit(found.audit), "<hr>", *_audit(found.against)]
    else:
        title = found.model
        body = _audit(found)
    return "\n".join(
        [
            "<!DOCTYPE html>",
            "<html lang='en'><head><meta charset='utf-8'>",
            "<meta http-equiv='Content-Security-Policy' content=\"default-src 'none'; style-src 'unsafe-inline'\">",
            "<meta name='viewport' content='width=device-width, initial-scale=1'>",
            f"<title>Keyword audit: {escape(title)}</title><style>{_STYLE}</style></head><body>",
            *body,
            "</body></html>",
            "",
        ]
    )


def reliance_sentence(audit: Audit) -> str:
    """The reliance in words."""
    figure, last = audit.reliance.reliance, audit.curve[-1]
    return (
        f"Reliance on keywords: {figure.value:.2f} (95 % interval {figure.low:.2f} to {figure.high:.2f}; 0 = keywords "
        "matter no more than random words, 1 = nothing else matters). "
        f"Confidence on whole texts is {_percent(audit.whole.confidence)}. Bare keywords keep "
        f"{_percent(audit.bare_keywords.confidence)}, as many bare random words "
        f"{_percent(audit.bare_random.confidence)}. Masking the keywords leaves {_percent(last.keywords.confidence)}, "
        f"masking as many random words {_percent(last.random.confidence)}."
    )


def difference_sentence(comparison: AuditComparison) -> str:
    """The paired difference in words."""
    figure, one, two = comparison.difference.reliance, comparison.audit.model, comparison.against.model
    if figure.low > 0:
        verdict = f"{one} relies more on keywords than {two}"
    elif figure.high < 0:
        verdict = f"{one} relies less on keywords than {two}"
    else:
        verdict = "these documents show no difference"
    return (
        f"Reliance of {one} minus that of {two}: {figure.value:+.2f} (95 % interval {figure.low:+.2f} to "
        f"{figure.high:+.2f}, paired over documents): {verdict}."
    )


def _comparison(comparison: AuditComparison) -> list[str]:
    names = f"{escape(comparison.audit.model)} against {escape(comparison.against.model)}"
    return [
        f"<h1>{names}</h1>",
        f"<p class='lead'>{escape(difference_sentence(comparison))}</p>",
        interval_chart(
            {found.model: _rows(found.reliance)["reliance"] for found in (comparison.audit, comparison.against)},
            title="reliance of both models",
            low=0.0,
            high=1.0,
        ),
        "<p>The difference and its parts:</p>",
        interval_chart(_rows(comparison.difference), title="difference in reliance", low=-1.0, high=1.0),
    ]


def _audit(audit: Audit) -> list[str]:
    if audit.keyword_documents:
        scheme = _SCHEMES.get(audit.scheme, f"words that the scheme {audit.scheme} ranks highest")
        scheme += f", found in {audit.keyword_documents} other documents"
    else:
        scheme = "a given list of words"
    hidden = "left out" if audit.masking == "drop" else "replaced with the mask token"
    return [
        f"<h1>Does {escape(audit.model)} rely on keywords?</h1>",
        f"<p class='muted'>{audit.documents} documents of {escape(audit.data)}, up to {audit.max_length} tokens of "
        f"each. Keywords: {escape(scheme)}; {_percent(audit.with_keywords)} of the documents contain one, and "
        f"{_percent(audit.keyword_share)} of all words are keywords. Masked words are {hidden}.</p>",
        f"<p class='lead'>{escape(reliance_sentence(audit))}</p>",
        interval_chart(_rows(audit.reliance), title="reliance and its parts", low=0.0, high=1.0),
        "<p class='muted'><b>kept</b>: confidence that bare keywords give beyond bare random words, as a share of the "
        "possible gain. <b>lost</b>: confidence that masking keywords costs beyond masking random words, as a share of "
        "the possible loss. Confidence is the probability of the class predicted for the whole text.</p>",
        "<h2>Masking keywords</h2>",
        *_curves(audit),
        "<h2>Masking everything but keywords</h2>",
        "<p>Confidence (%):</p>",
        bar_chart(
            {
                "bare keywords": audit.bare_keywords.confidence,
                "as many bare random words": audit.bare_random.confidence,
                "the whole text": audit.whole.confidence,
                "nothing": audit.empty.confidence,
            },
            title="confidence on bare keywords",
        ),
        f"<p>Accuracy: {_percent(audit.bare_keywords.accuracy)} on bare keywords, "
        f"{_percent(audit.bare_random.accuracy)} on as many bare random words, {_percent(audit.whole.accuracy)} on "
        "whole texts.</p>",
        "<h2>Keywords that carry the answers</h2>",
        "<p class='muted'>drop: mean confidence lost when only this word is masked, in percentage points. flips: "
        "documents whose answer then changes. carried: its share of the loss of all keywords.</p>",
        *_keywords(audit),
        *_flips(audit),
        "<h2>Where the keywords occur</h2>",
        "<p class='muted'>Share of the words in each class (rows) that are keywords of each class (columns), in %.</p>",
        f"<div class='wide'>{heat_map(audit.rates, title='keyword rates')}</div>",
    ]


def _curves(audit: Audit) -> list[str]:
    shares = [0.0, *(point.share for point in audit.curve)]
    charts = []
    for figure in ("confidence", "accuracy"):
        start = getattr(audit.whole, figure)
        lines = {
            "keywords": [start, *(getattr(point.keywords, figure) for point in audit.curve)],
            "random words": [start, *(getattr(point.random, figure) for point in audit.curve)],
        }
        charts.append(line_chart(shares, lines, title=f"{figure} (%)", x_title="share of keywords masked (%)"))
    return ["<div class='tables'>", *charts, "</div>"]


def _keywords(audit: Audit) -> list[str]:
    lines = ["<div class='tables'>"]
    heading = "<tr><th>word</th><th>documents</th><th>drop</th><th>flips</th><th>carried</th>"
    if audit.other is not None:
        heading += "<th>per million words</th><th>in the other corpus</th>"
    for name, keywords in audit.keywords.items():
        lines.append(f"<div><h3>{escape(name)}</h3>")
        if not keywords:
            lines.append("<p class='muted'>none found</p></div>")
            continue
        lines += ["<table>", heading + "</tr>"]
        for keyword in keywords:
            cells = [
                escape(keyword.word),
                f"{keyword.documents}",
                f"{round(100 * keyword.drop, 1) + 0.0:.1f}",  # never -0.0
                f"{keyword.flips}",
                _percent(keyword.carried),
            ]
            if keyword.per_million_other is not None:
                cells += [f"{keyword.per_million:,.0f}", f"{keyword.per_million_other:,.0f}"]
            lines.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
        lines.append("</table></div>")
    return [*lines, "</div>"]


def _flips(audit: Audit) -> list[str]:
    lines = ["<h2>Answers that depend on one word</h2>"]
    if not audit.flips:
        return [*lines, "<p>No answer changes when one keyword is masked.</p>"]
    for name, examples in audit.flips.items():
        lines.append(f"<h3>Keywords of {escape(name)}</h3>")
        lines += [
            f"<blockquote>{escape(flip.before)}<mark>{escape(flip.spelled)}</mark>{escape(flip.after)}<br>"
            f"<span class='muted'>{escape(flip.answer)} ({_percent(flip.confidence)}) → without the word "
            f"{escape(flip.answer_without)} ({_percent(flip.confidence_without)}); label: {escape(flip.label)}"
            "</span></blockquote>"
            for flip in examples
        ]
    return lines


def _rows(intervals: RelianceIntervals) -> dict[str, tuple[float, float, float]]:
    return {name: (figure["value"], figure["low"], figure["high"]) for name, figure in intervals.to_json().items()}


def _percent(value: float) -> str:
    return f"{100 * value:.1f} %"
