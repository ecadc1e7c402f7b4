"""How time and memory grow, on a tiny encoder so that what is measured is everything around the matrix products."""

from __future__ import annotations

import json
import math
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

MEMORY_ROWS = 1_000_000
MEMORY_LIMIT = 2.0
SIZES = (1_000, 4_000, 16_000, 64_000)
TRAINING_SIZES = (16_000, 64_000)  # beyond what kernels for new shapes of batches take


def tiny_model(folder: Path) -> Path:
    """A saved model with a BERT of one small layer and a word tokenizer made on the spot."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    from masker.config import build_settings
    from masker.documents import Documents
    from masker.model import Model

    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    words = [f"word{n}" for n in range(2000)]
    tokenizer = Tokenizer(models.WordLevel({w: i for i, w in enumerate(special + words)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]",
        mask_token="[MASK]", model_max_length=64,
    )  # fmt: skip
    torch.manual_seed(0)
    shape = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 64}
    BertModel(BertConfig(vocab_size=len(fast), max_position_embeddings=64, **shape)).save_pretrained(folder / "encoder")
    fast.save_pretrained(folder / "encoder")
    settings = build_settings(
        {
            "model": {"backbone": str(folder / "encoder"), "max_length": 64},
            "training": {"method": "vanilla", "epochs": 1},
        }
    )
    texts = made_up_texts(64, seed=1)
    documents = Documents(texts, None, ["a" if n % 2 else "b" for n in range(64)], "made up")
    model = Model.fit(documents, settings, folder / "work", device="cpu")
    return model.save(folder / "model")


def made_up_texts(count: int, seed: int) -> list[str]:
    draw = np.random.default_rng(seed)
    lengths = draw.integers(5, 40, count)
    return [" ".join(f"word{n}" for n in draw.integers(0, 2000, length)) for length in lengths]


def peak_kb() -> int:
    """Largest memory of this process so far. ``ru_maxrss`` would start from what the parent had."""
    status = Path("/proc/self/status")
    if status.exists():
        return int(next(line for line in status.read_text().splitlines() if line.startswith("VmHWM")).split()[1])
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def scoring_growth(folder: Path) -> dict[str, Any]:
    """Seconds to score 1k … 64k documents, and the exponent of tokens that fits them best."""
    from masker.documents.texts import STREAM_CHUNK
    from masker.model import Model

    model = Model.open(folder, device="cpu")
    texts = made_up_texts(SIZES[-1], seed=0)
    model.predict(texts[:1000])
    tokens, seconds = [], []
    for size in SIZES:
        start = time.perf_counter()
        for at in range(0, size, STREAM_CHUNK):
            model.predict(texts[at : min(size, at + STREAM_CHUNK)])
        seconds.append(time.perf_counter() - start)
        tokens.append(sum(len(text.split()) for text in texts[:size]))
    exponent = float(np.polyfit(np.log(tokens), np.log(seconds), 1)[0])
    return {"documents": list(SIZES), "seconds": [round(s, 3) for s in seconds], "exponent": round(exponent, 3)}


def prediction_memory(folder: Path, rows: int) -> dict[str, Any]:
    """Peak memory of a process that predicts a file of ``rows`` rows."""
    data = folder.parent / "rows.jsonl"
    texts = made_up_texts(1000, seed=2)
    block = "".join(json.dumps({"text": text}) + "\n" for text in texts)
    with data.open("w") as file:
        for _ in range(rows // 1000):
            file.write(block)
    script = (
        "from benchmarks.growth import peak_kb\n"
        "from masker.config import DataSettings\n"
        "from masker.commands.predict import predict\n"
        "from masker.commands.predict_options import PredictOptions\n"
        f"n = predict({str(folder)!r}, {str(data)!r}, DataSettings(), PredictOptions(), {str(data) + '.out'!r})\n"
        "print(n, peak_kb())\n"
    )
    start = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    count, peak = done.stdout.split()
    size = data.stat().st_size
    return {
        "rows": int(count),
        "file_mb": round(size / 2**20),
        "peak_gb": round(int(peak) / 2**20, 3),
        "limit_gb": MEMORY_LIMIT,
        "seconds": round(time.perf_counter() - start),
    }


def training_memory(folder: Path) -> dict[str, Any]:
    """Peak memory of processes that train on few and on many documents, and what each further token takes."""
    peaks, tokens, seconds = [], [], []
    for size in TRAINING_SIZES:
        script = (
            "from pathlib import Path\n"
            "from benchmarks.growth import made_up_texts, peak_kb\n"
            "from masker.model import Model\n"
            "from masker.config import build_settings\n"
            "from masker.documents import Documents\n"
            f"settings = build_settings({{'model': {{'backbone': {str(folder / 'encoder')!r}, 'max_length': 64}},"
            " 'training': {'method': 'masker', 'epochs': 1, 'batch_size': 64},"
            " 'keywords': {'source': 'frequency'}})\n"
            f"texts = made_up_texts({size}, seed=3)\n"
            "labels = ['a' if n % 2 else 'b' for n in range(len(texts))]\n"
            "documents = Documents(texts, None, labels, 'made up')\n"
            f"Model.fit(documents, settings, Path({str(folder / f'work-{size}')!r}), device='cpu')\n"
            "print(sum(len(t.split()) for t in texts), peak_kb())\n"
        )
        start = time.perf_counter()
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
        seconds.append(round(time.perf_counter() - start))
        count, peak = map(int, done.stdout.split()[-2:])
        tokens.append(count)
        peaks.append(peak * 1024)
    return {
        "documents": list(TRAINING_SIZES),
        "tokens": tokens,
        "peak_gb": [round(peak / 2**30, 3) for peak in peaks],
        "bytes_for_each_further_token": round((peaks[-1] - peaks[0]) / (tokens[-1] - tokens[0]), 1),
        "seconds": seconds,
    }


def run(rows: int = MEMORY_ROWS) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="masker-bench-") as folder:
        model = tiny_model(Path(folder))
        growth = scoring_growth(model)
        training = training_memory(Path(folder))
        small, large = prediction_memory(model, rows // 20), prediction_memory(model, rows)
    assert math.isfinite(growth["exponent"])
    return {"scoring_growth": growth, "training_memory": training, "memory_small": small, "memory": large}
