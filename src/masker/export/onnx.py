"""A model folder as ONNX: written whole or not at all, and only when it says the same as PyTorch."""

from __future__ import annotations

import json
import logging
import os
import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from masker.classifier import MaskerClassifier
from masker.config import LINEAR_METHODS
from masker.documents.encoding import Encoded
from masker.errors import ConfigError, ModelError
from masker.export.agreement import CheckData, compare
from masker.export.graph import OPSET, fuse_graph, quantize_graph, random_batches, write_graph
from masker.inference.backend import Scorer, TorchScorer
from masker.modeling.tokens import content_special_ids
from masker.inference.features import ENCODER_KINDS
from masker.inference.onnx_backend import (
    FILES,
    ONNX_FOLDER,
    RECORD,
    OnnxBackend,
    OnnxScorer,
    file_sha256,
    read_record,
    require_onnx,
    weight_files,
    weights_sha256,
)
from masker.modeling.backbone import load_classifier, load_tokenizer
from masker.modeling.convolution import MODEL_TYPE
from masker.modeling.model_folder import check_output, load_manifest
from masker.provenance import provenance

#: How far a logit of the exported graph may be from PyTorch's.
TOLERANCE = 1e-4

_log = logging.getLogger("masker")


@dataclass(frozen=True)
class ExportedFile:
    """One graph on disk and its distance from PyTorch on documents of random tokens."""

    bytes: int
    sha256: str
    max_logit_difference: float
    max_feature_difference: float


@dataclass(frozen=True)
class ExportReport:
    """What an export made.

    Attributes:
        folder: The model folder that opens with the new backends.
        files: Each backend's graph.
        fused: How many nodes of each fused kind the graph has; empty when it was left as exported.
        agreement: What :func:`masker.export.agreement.compare` found; ``None`` without data.
    """

    folder: Path
    files: dict[OnnxBackend, ExportedFile]
    fused: dict[str, int]
    agreement: dict[str, Any] | None = None

    def as_dict(self) -> dict[str, Any]:
        """A JSON-ready form."""
        return {**asdict(self), "folder": str(self.folder)}


def export_onnx(
    model_folder: str | Path,
    *,
    int8: bool = False,
    output: str | Path | None = None,
    check: CheckData | None = None,
    advance: Callable[[int], None] | None = None,
) -> ExportReport:
    """Write the classifier of a model folder as ONNX.

    Args:
        model_folder: A folder that ``masker train`` or :meth:`MaskerClassifier.save` wrote.
        int8: Also make a graph with 8-bit weights.
        output: A new folder that needs no PyTorch weights; ``None`` adds the graphs to ``model_folder``.
        check: Texts to compare the backends on.
        advance: Called with the number of texts that were compared.

    Raises:
        ConfigError: When ``output`` exists, or out-of-distribution texts are given for a regression.
        ModelError: When the model cannot be exported, or the graph's logits are not PyTorch's; nothing is written then.
    """
    for module in ("onnx", "onnxruntime"):
        require_onnx(module)
    manifest = load_manifest(model_folder).manifest
    source = Path(model_folder).expanduser()
    method = manifest["settings"]["training"]["method"]
    if method in LINEAR_METHODS:
        raise ModelError(f"'{source}' (method {method}) has no network of its own to export; use it as it is")
    if not weight_files(source):
        raise ModelError(f"'{source}' has no weights of its own (an export?); export the model that it was made from")
    if check is not None and check.ood and manifest["settings"]["model"]["head"] == "regression":
        raise ConfigError("a regression has no classes to be out of; check it without --ood")
    target = source if output is None else check_output(output)
    target.parent.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix=f".{ONNX_FOLDER}.", dir=source if output is None else target.parent))
    try:
        record, report = _make(source, manifest, int8, work, target)
        _write_record(work, record)
        if output is None:
            _add_to_folder(work, target / ONNX_FOLDER)
        else:
            _make_folder(source, work, target)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    if check is None:
        return report
    exported: dict[str, MaskerClassifier] = {
        backend: MaskerClassifier.load(target, backend) for backend in report.files
    }
    agreement = compare(MaskerClassifier.load(source, "torch"), exported, check, advance)
    _write_record(target / ONNX_FOLDER, {**(read_record(target / ONNX_FOLDER) or record), "agreement": agreement})
    return ExportReport(report.folder, report.files, report.fused, agreement)


def _make(
    source: Path, manifest: dict[str, Any], int8: bool, work: Path, target: Path
) -> tuple[dict[str, Any], ExportReport]:
    """Write the graphs into ``work``, each compared with PyTorch."""
    _log.info("exporting %s to ONNX", source)
    max_length = int(manifest["max_length"])
    tokenizer = load_tokenizer(str(source))
    classifier = load_classifier(str(source), attn_implementation="eager").eval()
    original = TorchScorer(classifier, tokenizer)
    kinds = _kinds(manifest, classifier)
    batches = random_batches(tokenizer, classifier, max_length)
    expected = _outputs(original, batches, kinds)

    def distance(file: Path) -> tuple[float, float]:
        # Whole batches, so that short rows are padded to the longest.
        scorer = OnnxScorer(file, tokenizer.pad_token_id, max_tokens=max_length * len(batches[0]))
        actual = _outputs(scorer, batches, kinds)
        logits, features = (float(np.abs(a - b).max()) for a, b in zip(actual, expected, strict=True))
        return logits, features

    plain = work / FILES["onnx"]
    special = sorted(content_special_ids(tokenizer))
    write_graph(classifier, batches[0], tokenizer.pad_token_id, plain, special_ids=special, kinds=kinds)
    differences = {"onnx": distance(plain)}
    if not differences["onnx"][0] <= TOLERANCE:
        raise ModelError(
            f"the ONNX graph of '{source}' is no faithful copy: a logit is off by {differences['onnx'][0]:.2g} "
            f"(allowed {TOLERANCE:g}); nothing was written, use the torch backend"
        )
    fused = _fuse(plain, classifier.config, distance, differences, float(np.abs(expected[1]).max()))
    narrow: bool | None = None
    if int8:
        small = work / FILES["onnx-int8"]
        narrow = quantize_graph(plain, small, batches, tokenizer.pad_token_id)
        differences["onnx-int8"] = distance(small)
    files: dict[OnnxBackend, ExportedFile] = {}
    for backend, name in FILES.items():
        if backend in differences:
            path = work / name
            files[backend] = ExportedFile(path.stat().st_size, file_sha256(path), *differences[backend])
    record = {
        "weights_sha256": weights_sha256(source),
        "files": {FILES[backend]: asdict(file) for backend, file in files.items()},
        "opset": OPSET,
        "features": kinds,
        "fused": fused,
        "weights_of_7_bits": narrow,
        "parity": {"rows": sum(map(len, batches)), "longest": max_length, "tolerance": TOLERANCE},
        "provenance": provenance(onnx={name: version(name) for name in ("onnx", "onnxruntime")}),
    }
    return record, ExportReport(target, files, fused)


def _fuse(
    plain: Path,
    config: Any,
    distance: Callable[[Path], tuple[float, float]],
    differences: dict[str, tuple[float, float]],
    scale: float,
) -> dict[str, int]:
    """Put the fused graph in the place of ``plain`` where there is one and it says the same."""
    joined = plain.with_name("fused.onnx")
    fused = fuse_graph(plain, joined, config)
    if fused:
        try:
            logits, features = distance(joined)
        except Exception:  # a graph that does not run is as bad as one that is wrong
            logits = features = np.inf
        if logits <= TOLERANCE and features <= TOLERANCE * max(1.0, scale):
            os.replace(joined, plain)
            differences["onnx"] = logits, features
            return fused
    joined.unlink(missing_ok=True)
    _log.info("the graph's nodes could not be joined; it is right all the same, and slower than it could be")
    return {}


def _kinds(manifest: dict[str, Any], classifier: Any) -> list[str]:
    """The features of a graph: those that the model's score reads, and those that cost nothing."""
    wanted = {"cls", *(manifest.get("detection") or {}).get("features", [])}
    if classifier.config.model_type != MODEL_TYPE:
        wanted.add("middle")
    return [kind for kind in ENCODER_KINDS if kind in wanted]


def _outputs(
    scorer: Scorer, batches: Sequence[Encoded], kinds: Sequence[str]
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """Logits and features (of all kinds, side by side) of all batches, each run by itself so that rows are padded."""
    parts = [scorer.predict_outputs(batch, kinds) for batch in batches]
    features = [np.concatenate([part.features[kind] for kind in kinds], axis=1) for part in parts]
    return np.concatenate([part.logits for part in parts]), np.concatenate(features)


def _add_to_folder(work: Path, folder: Path) -> None:
    """Move new graphs in, the record last: until then the old record does not fit them and they are refused."""
    folder.mkdir(exist_ok=True)
    before, record = read_record(folder), json.loads((work / RECORD).read_text(encoding="utf-8"))
    for name in FILES.values():
        if (work / name).exists():
            os.replace(work / name, folder / name)
        elif before and before["weights_sha256"] == record["weights_sha256"] and name in before["files"]:
            record["files"][name] = before["files"][name]  # an earlier export of the same weights
        else:
            (folder / name).unlink(missing_ok=True)
    _write_record(folder, record)


def _make_folder(source: Path, work: Path, target: Path) -> None:
    """A whole model folder around the graphs, without PyTorch's weights."""
    graphs = work / ONNX_FOLDER
    made = list(work.iterdir())
    graphs.mkdir()
    for file in made:
        os.replace(file, graphs / file.name)
    weights = {*weight_files(source), source / "model.safetensors.index.json"}
    for file in source.iterdir():
        if file.is_file() and file not in weights:
            shutil.copy2(file, work / file.name)
    work.chmod(0o755)
    if target.is_dir():
        target.rmdir()
    os.replace(work, target)


def _write_record(folder: Path, record: dict[str, Any]) -> None:
    temporary = folder / f".{RECORD}"
    temporary.write_text(json.dumps(record, indent=1), encoding="utf-8")
    os.replace(temporary, folder / RECORD)
