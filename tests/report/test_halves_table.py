from __future__ import annotations

from masker.report.halves_table import halves_lines

HEADINGS = {"auroc": "AUROC ↑", "accuracy": "accuracy ↑"}


def row(system, half, difference, p_value=0.031, units=6, score="auto", metric="auroc"):
    source = {"choose": "News", "confirm": "Shop"}[half]
    found = {"difference": difference, "p_value": p_value, "units": units, "smallest_p": 2 / 2**units}
    return {
        "system": system,
        "score": score,
        "metric": metric,
        "half": half,
        **found,
        "differences": {source: difference},
    }


def summary(*rows):
    base = {"system": "vanilla", "score": "auto", "metric": "auroc"}
    means = [
        {**base, "half": "choose", "means": {"News": 81.0}},
        {**base, "half": "confirm", "means": {"Shop": 70.25}},
    ]
    systems = {"vanilla:auto": "vanilla, auto", "weak:auto": "weak term, auto", "none:auto": "no class, auto"}
    return {"baseline": "vanilla", "systems": systems, "halves": [*means, *rows]}


def test_the_best_of_one_half_is_judged_on_the_other():
    rows = [row("weak", "choose", 0.5), row("weak", "confirm", 4.0), row("none", "choose", 2.0)]
    lines = halves_lines(summary(*rows, row("none", "confirm", 1.5)), HEADINGS)
    assert lines[0] == "**AUROC, read by `auto`**, difference to vanilla (News 81.0, Shop 70.2)."
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines[2:6]]
    assert cells[0] == ["setting", "News", "Shop", "choosing half", "confirming half"]
    assert cells[2] == ["weak term", "+0.5", "+4.0", "+0.5 (p = 0.031, 6 pairs)", "+4.0 (p = 0.031, 6 pairs)"]
    assert cells[3][:3] == ["no class", "+2.0", "+1.5"]
    assert lines[-1] == (
        "Chosen: **no class**, +2.0 points on the choosing half; on the confirming half +1.5 points over 6 pairs of "
        "training runs; p = 0.031 (sign-flip test over runs): confirmed."
    )


def test_a_choice_that_is_not_confirmed_says_so():
    rows = [row("none", "choose", 2.0), row("none", "confirm", 0.2, p_value=0.6)]
    assert halves_lines(summary(*rows), HEADINGS)[-1].endswith("(sign-flip test over runs): no difference shown.")
    assert halves_lines(summary(rows[0]), HEADINGS)[-1].endswith("; not run on the confirming half.")
    assert halves_lines(summary(rows[1]), HEADINGS)[-1] == "Nothing has been run on the choosing half."
    few = row("none", "confirm", 3.0, units=2)
    assert "too few runs to show a difference" in halves_lines(summary(rows[0], few), HEADINGS)[-1]


def test_what_was_dropped_after_a_few_pairs_is_not_chosen():
    rows = [row("none", "choose", 0.5), row("weak", "choose", 4.0, units=2)]
    assert "Chosen: **no class**, +0.5 points" in halves_lines(summary(*rows), HEADINGS)[-1]


def test_other_metrics_do_not_depend_on_the_reading():
    rows = [
        row("none", half, 1.0, score=score, metric=metric)
        for metric in ("auroc", "accuracy")
        for score in ("max-prob", "auto")
        for half in ("choose", "confirm")
    ]
    text = "\n".join(halves_lines({**summary(), "halves": rows}, HEADINGS))
    assert text.count("**AUROC, read by") == 2 and text.count("**accuracy**, difference to") == 1
    assert text.count("Chosen: ") == 2
