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


#: Why a goal may be missed, by the row's two names; shown only where it is.
_WHY = {
    ("MASKER step, paper's form", "vanilla step"): (
        "three views are three times the tokens, and matrix products, which take two thirds of a step, grow with them; "
        "only the optimizer and what surrounds a step do not"
    ),
    ("MASKER step, fast form", "vanilla step"): (
        "the dropped view is short only where keywords are rare. Attention keywords are frequent words, so it keeps "
        "almost two fifths of a document, and the keyword-masked view is as long as ever"
    ),
    ("attention keywords", "reference's loop over tokens"): (
        "the pass over the encoder is all that is left (it costs less than scoring), and its matrix products run near "
        "the processor's peak in bfloat16; the reference loses by padding to 512, float32 and its loop, which together "
        "are not worth the factor that was hoped for"
    ),
    ("one short text (p50), PyTorch, bfloat16", "pipeline, one text"): (
        "what is left is the modules of the network, which the pipeline runs through as well; for latency take the "
        "ONNX backends"
    ),
}


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
    missed = [
        f"- {row['what']} against {row['against']}: {_WHY[row['what'], row['against']]}."
        for rows in results["rows"].values()
        for row in rows
        if row["reached"] is False and (row["what"], row["against"]) in _WHY
    ]
    if missed:
        page += "\nWhere a goal is missed, as far as we know why:\n\n" + "\n".join(missed) + "\n"
    page += (
        "\nThe fast form drops the masked context words of MER's view instead of masking them "
        "(`masking.context=drop`); what that does to quality is in [reproduction.md](reproduction.md), recipe "
        "`context-form`.\n"
    )
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
