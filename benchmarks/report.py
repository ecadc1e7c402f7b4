"""The performance page, made from the JSON and nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.deployment import deployment_section
from benchmarks.short_texts_table import short_texts_section
from masker.files import write_text

_HEAD = """# Performance

Written by `make bench` (this processor) and `make bench-avx2` (the same without AVX-512) from
[`results/benchmarks.json`](../results/benchmarks.json). Every figure is a ratio of two things that took turns in one
run on one machine: the median over rounds, with the smallest and the largest round in brackets, then the goal and
whether it is reached. "against" says what the ratio compares with; a row "against without" switches one trick off.
Text: five classes of 20 Newsgroups, truncated to 512 characters; embedded backbone; batches of 16. Whole trainings are
`masker train` with nothing set but the method, on 500 documents that are not truncated to 512 characters.

"""

_SIMULATED = """
A simulated processor is the other one with `ATEN_CPU_CAPABILITY=avx2 ONEDNN_MAX_CPU_ISA=AVX2`: PyTorch leaves AVX-512
and bfloat16 out. ONNX Runtime has no such switch, so its own kernels, and those of int8 in particular, are still those
of the real processor; only what it is compared with is slower.
"""

_PIPELINE = "pipeline of transformers, one text"
#: Why a goal may be missed, by the two names of the row; shown only where it is.
_WHY = {
    ("MASKER step, paper's form", "vanilla step"): (
        "three views have three times the tokens, and the matrix products, two thirds of a step, grow with them; only "
        "the optimizer and the overhead of a step do not"
    ),
    ("MASKER step, fast form", "vanilla step"): (
        "the shortened view is short only where keywords are rare. Attention keywords are frequent words, so it keeps "
        "almost two fifths of a document, and the keyword-masked view has its full length"
    ),
    ("attention keywords", "reference's loop over tokens"): (
        "one pass over the encoder is all that is left, and it costs less than scoring. The reference loses time by "
        "padding to 512 tokens, by float32 and by its loop in Python, which together are not worth the goal"
    ),
    ("one short text (p50), PyTorch, bfloat16", _PIPELINE): (
        "most of the time is the overhead of the network's modules, which the pipeline pays as well; use the ONNX "
        "backends for latency"
    ),
    ("training step beside one busy core", "all cores free"): (
        "two threads and a busy neighbour share two cores, so 1.5 would be a fair share; the rest is waiting for the "
        "thread that was interrupted"
    ),
    ("training step, all cores free", "the OpenMP library's own waiting"): (
        "a thread that has gone to sleep must be woken for the next operation"
    ),
}


def write_page(processors: dict[str, Any], short_texts: dict[str, Any], path: Path) -> None:
    """Write the page of the figures of all kinds of processor."""
    kinds = list(processors)
    page = _HEAD + _table(processors) + _missed(processors)
    if any("simulated" in kind for kind in kinds):
        page += _SIMULATED
    page += (
        "\nThe fast form drops the masked context words of MER's view instead of masking them "
        "(`masking.context=drop`); [reproduction.md](reproduction.md), recipe `context-form`, has what that does to "
        "quality.\n"
    )
    for name, section in (("growth", _growth), ("deployment", deployment_section)):
        measured = next((results[name] for results in processors.values() if name in results), None)
        page += section(measured) if measured else ""
    for kind, results in processors.items():
        origin = results["provenance"]
        versions = ", ".join(f"{name} {version}" for name, version in origin["versions"].items())
        page += f"\n{kind}: {origin['machine']}, Python {origin['python']}, {versions}; {origin['rounds']} rounds.\n"
    write_text(path, page + short_texts_section(short_texts))


def _table(processors: dict[str, Any]) -> str:
    """One line for each row, one column for each kind of processor."""
    cells: dict[tuple[str, str], dict[str, str]] = {}
    for kind, results in processors.items():
        for row in (row for rows in results["rows"].values() for row in rows):
            text = f"{row['ratio']:.2f} ({row['low']:.2f} – {row['high']:.2f})"
            if row["reached"] is not None:
                text += f"; {row['goal']}: {'yes' if row['reached'] else 'no'}"
            cells.setdefault((row["what"], row["against"]), {})[kind] = text
    lines = [f"| what | against | {' | '.join(processors)} |", f"| --- | --- |{' --- |' * len(processors)}"]
    for (what, against), texts in cells.items():
        lines.append(f"| {what} | {against} | {' | '.join(texts.get(kind, '–') for kind in processors)} |")
    return "\n".join(lines) + "\n"


def _missed(processors: dict[str, Any]) -> str:
    missed: dict[tuple[str, str], list[str]] = {}
    for kind, results in processors.items():
        for row in (row for rows in results["rows"].values() for row in rows):
            if row["reached"] is False and (row["what"], row["against"]) in _WHY:
                missed.setdefault((row["what"], row["against"]), []).append(kind)
    if not missed:
        return ""
    lines = [
        f"- {what} against {against} ({', '.join(kinds)}): {_WHY[what, against]}."
        for (what, against), kinds in missed.items()
    ]
    return "\nWhy goals are missed, as far as we know:\n\n" + "\n".join(lines) + "\n"


def _growth(results: dict[str, Any]) -> str:
    growth, memory, small = (results[key] for key in ("scoring_growth", "memory", "memory_small"))
    training = results["training_memory"]
    return (
        f"\n## Growth\n\nScoring {', '.join(f'{n:,}' for n in growth['documents'])} documents with a tiny encoder took "
        f"{', '.join(str(s) for s in growth['seconds'])} s: time grows as the number of tokens to the power of "
        f"{growth['exponent']}.\n\nPredicting {memory['rows']:,} rows from a file of {memory['file_mb']:,} MB had "
        f"a peak of {memory['peak_gb']} GB (limit {memory['limit_gb']} GB), {small['rows']:,} rows one of "
        f"{small['peak_gb']} GB.\n\nTraining MASKER on {', '.join(f'{n:,}' for n in training['documents'])} documents "
        f"had peaks of {', '.join(f'{gb}' for gb in training['peak_gb'])} GB: "
        f"{training['bytes_for_each_further_token']} bytes for each further token (8 of them are its id; the rest is "
        "the text itself and the bookkeeping of documents).\n"
    )
