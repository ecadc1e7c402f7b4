from __future__ import annotations

from benchmarks.short_texts_table import goal_rows, short_texts_section


def row(case, system, seed, seconds, texts=300, **more):
    return {
        "case": case, "system": system, "seed": seed, "texts": texts, "classes": 7, "seconds": seconds,
        "total_seconds": seconds + 8, "accuracy": 0.8, "auroc": {"no intent": {"own score": 0.9 + seed / 100}}, **more,
    }  # fmt: skip


ROWS = [
    row("bot", "default", 0, 50.0, rejected={"test": 0.05}),
    row("bot", "SetFit", 0, 200.0, auroc={"no intent": {"highest probability": 0.7, "nearest neighbour": 0.85}}),
    row("bot", "default", 1, 70.0, rejected={"test": 0.04}),
    row("many", "default", 0, 100.0, texts=4000, rejected={"test": 0.05}),
    row("many", "linear", 0, 10.0, texts=4000, rejected={"test": 0.05}),
]
ORIGIN = {
    "machine": "Linux", "python": "3.11", "threads": 2, "max_steps": 300, "seeds": [0, 1],
    "systems": {"default": {"masker": "0.1"}, "linear": {"masker": "0.1"}, "SetFit": {"setfit": "1.2"}},
}  # fmt: skip


def test_goals_compare_the_same_seeds():
    against_setfit, against_linear = goal_rows(ROWS)
    assert (against_setfit.ratio, against_setfit.reached) == (0.25, True)  # seed 1 has no SetFit
    assert (against_linear.ratio, against_linear.reached) == (6.0, False)  # in total: 108 s against 18 s


def test_section_has_a_line_for_each_case_and_system():
    section = short_texts_section({"AVX2": {"rows": ROWS, "provenance": ORIGIN}})
    assert (
        "| bot (300 texts, 7 classes) | default | 60.0 (50.0 – 70.0) | 68.0 (58.0 – 78.0) | 80.0 (80.0 – 80.0) | "
        "no intent 90.5 (90.0 – 91.0) | 4.5 (4.0 – 5.0) |"
    ) in section
    assert "no intent by highest probability 70.0; no intent by nearest neighbour 85.0 | – |" in section
    assert "- bot: default, trained in 60.0 s; at most 60 s: yes" in section
    assert "many: default, trained in" not in section
    assert "- many: default, in total against linear: 6.00 (6.00 – 6.00) times; at most 4: no (two thirds" in section
    assert "SetFit 300 steps, seeds 0, 1; masker with masker 0.1; SetFit with setfit 1.2." in section


def test_quality_is_paired_by_texts_and_seed():
    """Six bots, seed 0: 80 % right and 0.90 against 70 % and 0.70 by one score, 0.85 by the other.

    All six differences are positive, so of 2^6 = 64 sign patterns two are as extreme: p = 2 / 64 = 0.031.
    """
    areas = {"no intent": {"highest probability": 0.7, "nearest neighbour": 0.85}}
    rows = [
        line
        for bot in range(6)
        for line in (
            row(f"bot {bot}", "default", 0, 50.0, rejected={"test": 0.05}),
            row(f"bot {bot}", "default", 1, 50.0, rejected={"test": 0.05}),  # nothing to compare it with
            {**row(f"bot {bot}", "SetFit", 0, 200.0, auroc=areas), "accuracy": 0.7},
        )
    ]
    section = short_texts_section({"AVX2": {"rows": rows, "provenance": ORIGIN}})
    shown = "p = 0.031 (sign-flip test over runs): the default is better"
    over = "points on average over 6 pairs of runs"
    assert f"- default against SetFit, accuracy: better in 6 of 6 cells, +10.0 {over}; {shown}" in section
    assert f"- default against SetFit by highest probability, AUROC: better in 6 of 6 cells, +20.0 {over}" in section
    assert f"- default against SetFit by nearest neighbour, AUROC: better in 6 of 6 cells, +5.0 {over}" in section
    assert "against linear" not in section


def test_section_without_rows_links_to_no_file():
    section = short_texts_section({})
    assert "short_texts.json" not in section
    assert "No run is stored yet." in section
