"""The performance page, made from the JSON and nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

_HEAD = """# Performance

Made by `make bench` from [`results/benchmarks.json`](../results/benchmarks.json). Every figure is a ratio of two things
that took turns in one run on one machine: the median over rounds, with the smallest and the largest round. Times are
for a document, a step or a call and mean little by themselves. Text: five classes of 20 Newsgroups, cut to 512
characters; embedded backbone; batches of 16.

| what | against | ratio | rounds from – to | goal | reached | median times |
| --- | --- | ---: | --- | --- | --- | --- |
"""


def write_page(results: dict[str, Any], path: Path) -> None:
    lines = []
    for rows in results["rows"].values():
        for row in rows:
            mark = {True: "yes", False: "no", None: "–"}[row["reached"]]
            lines.append(
                f"| {row['what']} | {row['against']} | {row['ratio']:.2f} | {row['low']:.2f} – {row['high']:.2f} "
                f"| {row['goal']} | {mark} | {row['detail']} |"
            )
    page = _HEAD + "\n".join(lines) + "\n"
    if "growth" in results:
        growth, memory, small = (results["growth"][key] for key in ("scoring_growth", "memory", "memory_small"))
        page += (
            f"\n## Growth\n\nScoring {', '.join(f'{n:,}' for n in growth['documents'])} documents with a tiny encoder "
            "took "
            f"{', '.join(str(s) for s in growth['seconds'])} s: time grows as tokens to the power of "
            f"{growth['exponent']}.\n\nPredicting {memory['rows']:,} rows from a file of {memory['file_mb']:,} MB had "
            f"a peak of {memory['peak_gb']} GB (limit {memory['limit_gb']} GB), {small['rows']:,} rows one of "
            f"{small['peak_gb']} GB.\n"
        )
        training = results["growth"]["training_memory"]
        page += (
            f"\nTraining MASKER on {', '.join(f'{n:,}' for n in training['documents'])} documents had peaks of "
            f"{', '.join(f'{gb}' for gb in training['peak_gb'])} GB: {training['bytes_for_each_further_token']} bytes "
            "for each further token (8 of them are its id; the rest is the text itself and the bookkeeping of "
            "documents).\n"
        )
    versions = results["provenance"]["versions"]
    page += (
        f"\n{results['provenance']['machine']}, Python {results['provenance']['python']}, "
        + ", ".join(f"{name} {version}" for name, version in versions.items())
        + f"; {results['provenance']['rounds']} rounds.\n"
    )
    path.write_text(page, encoding="utf-8")
