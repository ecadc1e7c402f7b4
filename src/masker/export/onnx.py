"""ONNX export of a model folder: atomic, and only if its logits are PyTorch's."""

from __future__ import annotations

import logging
import os
import shutil
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from masker.errors import ConfigError, ModelError
from masker.export.agreement import CheckData, compare_backends
from masker.export.graph import OPSET, fuse_graph, quantize_graph, write_graph
from masker.export.parity import PARITY_ROWS, TOLERANCE, Difference, Parity
from masker.extras import require
from masker.files import atomic_folder, file_sha256, write_json
from masker.inference.features import ENCODER_KINDS
from masker.inference.onnx_backend import (
    FILES,
    ONNX_FOLDER,
    RECORD,
    read_record,
    weight_files,
    weights_sha256,
)
from masker.model import Model
from masker.modeling.backbone import load_classifier, load_tokenizer
from masker.modeling.convolution import MODEL_TYPE
from masker.modeling.model_folder import check_output, load_manifest
from masker.modeling.tokens import special_ids_of
from masker.provenance import provenance
from masker.registry import METHODS

_log = logging.getLogger("masker")


@dataclass(frozen=True)
class ExportedFile:
    """One graph on disk, and its distance from PyTorch on documents of random tokens."""

    bytes: int
    sha256: str
    max_logit_difference: float
    max_feature_difference: float


@dataclass(frozen=True)
class ExportReport:
    """The result of an export.

    Attributes:
        folder: The model folder that opens with the new backends.
        files: The graph of each backend.
        fused: Number of fused nodes of each kind; empty if the graph was not fused.
        agreement: The result of :func:`masker.export.agreement.compare_backends`; ``None`` without data.
    """

    folder: Path
    files: dict[str, ExportedFile]
    fused: dict[str, int]
    agreement: dict[str, Any] | None = None

    def as_dict(self) -> dict[str, Any]:
        return {**asdict(self), "folder": str(self.folder)}


def export_onnx(
    model_folder: str | Path,
    *,
    int8: bool = False,
    output: str | Path | None = None,
    check: CheckData | None = None,
    advance: Callable[[int], None] | None = None,
) -> ExportReport:
    """Export the classifier of a model folder to ONNX.

    Args:
        model_folder: A folder written by ``masker train`` or :meth:`masker.model.Model.save`.
        int8: Also write a graph with 8-bit weights.
        output: A new folder without PyTorch weights; ``None`` adds the graphs to ``model_folder``.
        check: Texts to compare the backends on.
        advance: Called with the number of texts compared.

    Raises:
        ConfigError: When ``output`` exists, or out-of-distribution texts are given for a regression.
        ModelError: When the model cannot be exported, or the graph's logits differ from PyTorch's; nothing is written.
    """
    require("exporting", "onnx")
    manifest = load_manifest(model_folder).manifest
    source = Path(model_folder).expanduser()
    _check_exportable(source, manifest, check)
    target = source if output is None else check_output(output)
    with atomic_folder(source / ONNX_FOLDER if output is None else target) as work:
        graphs = work if output is None else work / ONNX_FOLDER
        graphs.mkdir(exist_ok=True)
        record, files = _write_graphs(source, manifest, graphs, int8=int8)
        if output is None:
            _keep_earlier_files(source / ONNX_FOLDER, graphs, record)
        else:
            _copy_without_weights(source, work)
        write_json(graphs / RECORD, record)
    report = ExportReport(target, files, record["fused"])
    if check is None:
        return report
    exported = {backend: Model.open(target, backend) for backend in report.files}
    agreement = compare_backends(Model.open(source, "torch", "cpu"), exported, check, advance)
    write_json(target / ONNX_FOLDER / RECORD, {**record, "agreement": agreement})
    return replace(report, agreement=agreement)


def _check_exportable(source: Path, manifest: dict[str, Any], check: CheckData | None) -> None:
    method = manifest["settings"]["training"]["method"]
    if not METHODS.get(method).fine_tuned:
        raise ModelError(
            f"'{source}' (method {method}) has no network of its own to export; use the model folder itself"
        )
    if not weight_files(source):
        raise ModelError(f"'{source}' has no weights of its own (an earlier export?); export the original model folder")
    if check is not None and check.ood and manifest["settings"]["model"]["head"] == "regression":
        raise ConfigError("a regression has no out-of-distribution texts; check it without --ood")


def _write_graphs(
    source: Path, manifest: dict[str, Any], folder: Path, *, int8: bool
) -> tuple[dict[str, Any], dict[str, ExportedFile]]:
    """Write the graphs into ``folder``, each measured against PyTorch; returns the record to store and the files."""
    _log.info("exporting %s to ONNX", source)
    max_length = int(manifest["max_length"])
    tokenizer = load_tokenizer(str(source))
    classifier = load_classifier(str(source), attn_implementation="eager").eval()
    # The convolutional network has no layers to take the middle of.
    kinds = ["cls"] if classifier.config.model_type == MODEL_TYPE else list(ENCODER_KINDS)
    parity = Parity(classifier, tokenizer, max_length, kinds)
    plain, special_ids = folder / FILES["onnx"], sorted(special_ids_of(tokenizer))
    write_graph(classifier, parity.batches[0], tokenizer.pad_token_id, plain, special_ids=special_ids, kinds=kinds)
    difference = parity.difference(plain)
    if not difference.logits <= TOLERANCE:
        raise ModelError(
            f"the ONNX graph of '{source}' is inexact: a logit is off by {difference.logits:.2g} (allowed: "
            f"{TOLERANCE:g}); nothing was written, use the torch backend"
        )
    fused, difference = _fuse(plain, classifier.config, parity, difference)
    files = {"onnx": _measured(plain, difference)}
    narrow: bool | None = None
    if int8:
        small = folder / FILES["onnx-int8"]
        narrow = quantize_graph(plain, small, parity.batches, tokenizer.pad_token_id)
        files["onnx-int8"] = _measured(small, parity.difference(small))
    record = {
        "weights_sha256": weights_sha256(source),
        "files": {name: asdict(files[backend]) for backend, name in FILES.items() if backend in files},
        "opset": OPSET,
        "features": kinds,
        "fused": fused,
        "weights_of_7_bits": narrow,
        "parity": {"rows": PARITY_ROWS, "longest": max_length, "tolerance": TOLERANCE},
        "provenance": provenance(onnx={name: version(name) for name in ("onnx", "onnxruntime")}),
    }
    return record, files


def _measured(file: Path, difference: Difference) -> ExportedFile:
    return ExportedFile(file.stat().st_size, file_sha256(file), difference.logits, difference.features)


def _fuse(plain: Path, config: Any, parity: Parity, difference: Difference) -> tuple[dict[str, int], Difference]:
    """Replace ``plain`` by its fused graph if that runs and is close to PyTorch."""
    joined = plain.with_name("fused.onnx")
    fused = fuse_graph(plain, joined, config)
    if fused:
        try:
            after = parity.difference(joined)
        except Exception:  # a graph that does not run is as useless as a wrong one
            after = None
        if after is not None and parity.is_close(after):
            os.replace(joined, plain)
            return fused, after
    joined.unlink(missing_ok=True)
    _log.info("the graph could not be fused; it is correct but slower")
    return {}, difference


def _keep_earlier_files(folder: Path, work: Path, record: dict[str, Any]) -> None:
    """Carry files of the existing folder over into ``work``, except graphs of other weights."""
    before = read_record(folder)
    same_weights = before is not None and before["weights_sha256"] == record["weights_sha256"]
    for file in folder.iterdir() if folder.is_dir() else ():
        if file.name == RECORD or (work / file.name).exists():
            continue
        if file.name in FILES.values():
            if before is None or not same_weights or file.name not in before["files"]:
                continue
            record["files"][file.name] = before["files"][file.name]
        if file.is_file():
            shutil.copy2(file, work / file.name)


def _copy_without_weights(source: Path, work: Path) -> None:
    """Copy the files of a model folder, without PyTorch's weights."""
    weights = {*weight_files(source), source / "model.safetensors.index.json"}
    for file in source.iterdir():
        if file.is_file() and file not in weights:
            shutil.copy2(file, work / file.name)
