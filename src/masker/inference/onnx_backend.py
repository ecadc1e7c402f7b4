"""Running an exported classifier in ONNX Runtime, and the files an export leaves in a model folder.

========================= ================================================================================
``onnx/model.onnx``       the graph in 32-bit numbers: ids in, ``logits`` (N, C) and features (N, H) out:
                          ``features`` of kind ``cls``, and ``features.KIND`` of other kinds
``onnx/model.int8.onnx``  the same with 8-bit weights
``onnx/export.json``      what they were made from, and how far their numbers are from PyTorch's
========================= ================================================================================
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import torch

from masker.documents.encoding import Encoded, token_budget_batches
from masker.errors import ModelError
from masker.files import file_sha256
from masker.inference.batching import Advance
from masker.inference.outputs import Outputs
from masker.masking.collator import pad_rows

OnnxBackend = Literal["onnx", "onnx-int8"]

#: Tokens of one batch, padding included. ONNX Runtime is fastest while a batch's activations stay in the cache.
MAX_TOKENS = 384

ONNX_FOLDER = "onnx"
RECORD = "export.json"
FILES: dict[OnnxBackend, str] = {"onnx": "model.onnx", "onnx-int8": "model.int8.onnx"}

Floats = npt.NDArray[np.float32]


class OnnxScorer:
    """An exported classifier in ONNX Runtime, on the CPU.

    Args:
        file: The graph.
        pad_id: Vocabulary id of the padding token.
        max_tokens: Tokens of one batch, padding included.

    Raises:
        ModelError: When ONNX Runtime is not installed, or does not take the file.
    """

    def __init__(self, file: str | Path, pad_id: int, max_tokens: int = MAX_TOKENS) -> None:
        runtime = require_onnx("onnxruntime")
        options = runtime.SessionOptions()
        options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_ENABLE_ALL
        options.intra_op_num_threads = torch.get_num_threads()
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        try:
            self._session = runtime.InferenceSession(
                str(file),
                options,
                providers=["CPUExecutionProvider"],
                # It would join what the export took apart for speed.
                disabled_optimizers=["SkipLayerNormFusion"],
            )
            self._widths = {output.name: int(output.shape[1]) for output in self._session.get_outputs()}
            self._n_outputs = self._widths["logits"]
        except Exception as error:  # ONNX Runtime's errors share no base of their own
            raise ModelError(
                f"'{file}' cannot be opened ({_reason(error)}); run 'masker export' on its model again"
            ) from None
        self._has_types = "token_type_ids" in {entry.name for entry in self._session.get_inputs()}
        self._pad_id, self._max_tokens = pad_id, max_tokens

    @property
    def n_outputs(self) -> int:
        """C."""
        return self._n_outputs

    def predict_logits(self, encoded: Encoded, advance: Advance | None = None) -> Floats:
        """(N, C) logits of f_doc, in the order of the rows."""
        if len(encoded) == 1:
            logits: Floats = self._run(["logits"], encoded, [0])[0]
            if advance is not None:
                advance(1)
            return logits
        return self._fill(["logits"], encoded, advance)[0]

    def predict_outputs(
        self, encoded: Encoded, kinds: Sequence[str] = ("cls",), advance: Advance | None = None
    ) -> Outputs:
        """(N, C) logits and (N, H) features of each kind.

        Raises:
            ModelError: When the graph was exported without one of them.
        """
        names = [output_name(kind) for kind in kinds]
        missing = [kind for kind, name in zip(kinds, names, strict=True) if name not in self._widths]
        if missing:
            raise ModelError(
                f"the score reads features ({', '.join(missing)}) that this export does not give; renew it with "
                "'masker export', or choose another --score or --backend torch"
            )
        logits, *features = self._fill(["logits", *names], encoded, advance)
        return Outputs(logits, dict(zip(kinds, features, strict=True)))

    def weights(self) -> None:
        """A graph does not hold the weights as transformers saves them."""

    def _fill(self, names: list[str], encoded: Encoded, advance: Advance | None) -> list[Floats]:
        filled = [np.empty((len(encoded), self._widths[name]), dtype=np.float32) for name in names]
        for rows in token_budget_batches(encoded.lengths, self._max_tokens):
            for target, values in zip(filled, self._run(names, encoded, rows.tolist()), strict=True):
                target[rows] = values
            if advance is not None:
                advance(len(rows))
        return filled

    def _run(self, names: list[str], encoded: Encoded, rows: list[int]) -> Any:
        input_ids, attention_mask = pad_rows([encoded.input_ids[row] for row in rows], self._pad_id)
        feed = {"input_ids": input_ids, "attention_mask": attention_mask}
        if self._has_types:
            types = encoded.token_type_ids
            feed["token_type_ids"] = (
                np.zeros_like(input_ids) if types is None else pad_rows([types[row] for row in rows], 0)[0]
            )
        return self._session.run(names, feed)


def output_name(kind: str) -> str:
    """What a graph calls the features of a kind."""
    return "features" if kind == "cls" else f"features.{kind}"


def require_onnx(module: str) -> Any:
    """Import a package of the ``onnx`` extra.

    Raises:
        ModelError: When it is not installed; names the way to install it.
    """
    from importlib import import_module

    try:
        return import_module(module)
    except ImportError as error:
        raise ModelError(f"ONNX needs {module} ({error}); install it with pip install 'masker[onnx]'") from None


def open_exported(folder: Path, backend: OnnxBackend) -> Path:
    """The graph of a backend, once it is sure that it belongs to the weights beside it.

    Raises:
        ModelError: When it was not exported, is damaged, or is older than the weights.
    """
    name = FILES[backend]
    command = f"masker export {folder} --format onnx" + (" --int8" if backend == "onnx-int8" else "")
    record = read_record(folder / ONNX_FOLDER)
    file = folder / ONNX_FOLDER / name
    if record is None or name not in record["files"] or not file.is_file():
        raise ModelError(f"'{folder}' has no export for backend {backend}; make it with '{command}'")
    if weight_files(folder) and weights_sha256(folder) != record["weights_sha256"]:
        raise ModelError(f"the export in '{folder}' is of other weights than the model has now; renew it: '{command}'")
    if file_sha256(file) != record["files"][name]["sha256"]:
        raise ModelError(f"'{file}' is not the file that {RECORD} tells of (damaged?); renew it: '{command}'")
    return file


def read_record(folder: Path) -> dict[str, Any] | None:
    """What ``export.json`` in the folder ``onnx`` says; ``None`` where there is none that can be read."""
    try:
        record = json.loads((folder / RECORD).read_text(encoding="utf-8"))
        return {**record, "files": dict(record["files"]), "weights_sha256": str(record["weights_sha256"])}
    except (OSError, ValueError, KeyError, TypeError):
        return None


def weight_files(folder: Path) -> list[Path]:
    """The native weights of a model folder, in one file or several."""
    return sorted(folder.glob("model*.safetensors"))


def weights_sha256(folder: Path) -> str:
    """Fingerprint of the native weights of a model folder."""
    return file_sha256(*weight_files(folder))


def _reason(error: Exception) -> str:
    return " ".join(str(error).split())[:160]
