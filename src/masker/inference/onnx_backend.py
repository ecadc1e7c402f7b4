"""An exported classifier in ONNX Runtime, and the files of an export.

========================= ================================================================================
``onnx/model.onnx``       the graph in float32: ids in, ``logits`` (N, C) and features (N, H) out;
                          ``features`` are of kind ``cls``, ``features.KIND`` of other kinds
``onnx/model.int8.onnx``  the same graph with 8-bit weights
``onnx/export.json``      the weights they were made from, and how far their outputs are from PyTorch's
========================= ================================================================================
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from masker.documents.encoding import Encoded, pad_rows, token_budget_batches
from masker.errors import ModelError
from masker.files import file_sha256
from masker.inference.batching import Advance, Rows, run_in_batches, side_by_side
from masker.inference.cores import usable_cores
from masker.inference.outputs import Outputs

OnnxName = Literal["onnx", "onnx-int8"]

#: Tokens of one batch, padding included. ONNX Runtime is fastest while the activations stay in the cache.
ONNX_TOKENS = 384

ONNX_FOLDER = "onnx"
RECORD = "export.json"
FILES: dict[OnnxName, str] = {"onnx": "model.onnx", "onnx-int8": "model.int8.onnx"}

#: Inputs of a graph, and the one that only some have.
_REQUIRED, _TYPES = {"input_ids", "attention_mask"}, "token_type_ids"

Floats = npt.NDArray[np.float32]


class OnnxBackend:
    """An exported classifier in ONNX Runtime, on the CPU.

    A few texts run in a session that uses all cores. Many texts run in one that uses a single core for each batch, with
    several batches at a time; it is opened when it is first needed.

    Args:
        file: The graph.
        pad_id: Vocabulary id of the padding token.
        max_tokens: Tokens of one batch, padding included.

    Raises:
        ModelError: When ONNX Runtime cannot open the file.
    """

    def __init__(self, file: str | Path, pad_id: int, max_tokens: int = ONNX_TOKENS) -> None:
        self._file, self._cores = str(file), usable_cores()
        try:
            self._session = _open_session(self._file, self._cores)
            self._widths = {output.name: int(output.shape[1]) for output in self._session.get_outputs()}
            self._n_outputs = self._widths["logits"]
            inputs = {entry.name for entry in self._session.get_inputs()}
            if not _REQUIRED <= inputs <= _REQUIRED | {_TYPES}:
                raise ValueError(f"it reads {', '.join(sorted(inputs)) or 'nothing'}")
        except Exception as error:  # ONNX Runtime's errors share no base class
            raise self._unusable("cannot be opened", error) from None
        self._has_types = _TYPES in inputs
        self._pad_id, self._max_tokens = pad_id, max_tokens

    @property
    def n_outputs(self) -> int:
        return self._n_outputs

    def predict_logits(self, encoded: Encoded, advance: Advance | None = None) -> Floats:
        return self._run(["logits"], encoded, advance)["logits"]

    def predict_outputs(
        self, encoded: Encoded, kinds: Sequence[str] = ("cls",), advance: Advance | None = None
    ) -> Outputs:
        """(N, C) logits and (N, H) features of each kind.

        Raises:
            ModelError: When the graph was exported without one of them.
        """
        names = {kind: output_name(kind) for kind in kinds}
        missing = [kind for kind, name in names.items() if name not in self._widths]
        if missing:
            raise ModelError(
                f"the score reads features ({', '.join(missing)}) that this export lacks; run 'masker export' again"
            )
        found = self._run(["logits", *names.values()], encoded, advance)
        return Outputs(found["logits"], {kind: found[name] for kind, name in names.items()})

    @cached_property
    def _session_of_one_core(self) -> Any:
        return _open_session(self._file, 1)

    def weights(self) -> None:
        """A graph does not hold the weights as transformers saves them."""

    def _run(self, names: list[str], encoded: Encoded, advance: Advance | None) -> dict[str, Floats]:
        many = side_by_side(token_budget_batches(encoded.lengths, self._max_tokens), self._cores)
        session = self._session_of_one_core if many else self._session

        def step(rows: Rows) -> dict[str, Floats]:
            try:
                found = dict(zip(names, session.run(names, self._feed(encoded, rows)), strict=True))
                for name, values in found.items():
                    _check(name, values, (len(rows), self._widths[name]))
            except Exception as error:  # as above: a graph from elsewhere may do anything
                raise self._unusable("fails", error) from None
            return found

        empty = {name: np.empty((0, self._widths[name]), dtype=np.float32) for name in names}
        return run_in_batches(encoded, self._max_tokens, step, advance, workers=self._cores) or empty

    def _unusable(self, what: str, error: Exception) -> ModelError:
        return ModelError(f"'{self._file}' {what} ({_reason(error)}); run 'masker export' on its model again")

    def _feed(self, encoded: Encoded, rows: Rows) -> dict[str, npt.NDArray[np.int64]]:
        input_ids, attention_mask = pad_rows([encoded.input_ids[row] for row in rows], self._pad_id)
        feed = {"input_ids": input_ids, "attention_mask": attention_mask}
        if self._has_types:
            types = encoded.token_type_ids
            feed[_TYPES] = np.zeros_like(input_ids) if types is None else pad_rows([types[row] for row in rows], 0)[0]
        return feed


def _open_session(file: str, threads: int) -> Any:
    import onnxruntime as runtime  # a tenth of a second that only those who use it pay

    options = runtime.SessionOptions()
    options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_ENABLE_ALL
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 4  # what goes wrong is said by the error that follows
    # Threads that spin while they wait slow each other down as soon as another process wants one of the cores.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return runtime.InferenceSession(
        file,
        options,
        providers=["CPUExecutionProvider"],
        # It would fuse what the export split for speed.
        disabled_optimizers=["SkipLayerNormFusion"],
    )


def _check(name: str, values: Floats, shape: tuple[int, int]) -> None:
    if values.shape != shape:
        raise ValueError(f"its {name} have shape {values.shape} instead of {shape}")
    if not np.isfinite(values).all():
        raise ValueError(f"its {name} are not finite numbers")


def output_name(kind: str) -> str:
    """The name of a kind of features in a graph."""
    return "features" if kind == "cls" else f"features.{kind}"


def find_export(folder: Path, backend: OnnxName) -> Path:
    """The graph of a backend, checked to belong to the weights beside it.

    Raises:
        ModelError: When there is no export, or it is damaged or older than the weights.
    """
    name = FILES[backend]
    command = f"masker export {folder} --format onnx" + (" --int8" if backend == "onnx-int8" else "")
    record = read_record(folder / ONNX_FOLDER)
    file = folder / ONNX_FOLDER / name
    if record is None or name not in record["files"] or not file.is_file():
        raise ModelError(f"'{folder}' has no export for backend {backend}; make it with '{command}'")
    if weight_files(folder) and weights_sha256(folder) != record["weights_sha256"]:
        raise ModelError(f"the export in '{folder}' is older than the model's weights; run '{command}' again")
    if file_sha256(file) != record["files"][name]["sha256"]:
        raise ModelError(f"'{file}' does not match the checksum in {RECORD}; run '{command}' again")
    return file


def read_record(folder: Path) -> dict[str, Any] | None:
    """The content of ``export.json``; ``None`` if it is missing or unreadable."""
    try:
        record = json.loads((folder / RECORD).read_text(encoding="utf-8"))
        return {**record, "files": dict(record["files"]), "weights_sha256": str(record["weights_sha256"])}
    except (OSError, ValueError, KeyError, TypeError):
        return None


def weight_files(folder: Path) -> list[Path]:
    """The native weights of a model folder: one file, or several shards."""
    return sorted(folder.glob("model*.safetensors"))


def weights_sha256(folder: Path) -> str:
    """Fingerprint of the native weights of a model folder."""
    return file_sha256(*weight_files(folder))


def _reason(error: Exception) -> str:
    return " ".join(str(error).split())[:160]
