"""Export a model folder to ONNX, optionally checked on the user's texts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from masker.commands.evaluate import EvaluationSources, read_evaluation
from masker.config import DataSettings
from masker.errors import ConfigError
from masker.export import CheckData, ExportReport, export_onnx
from masker.modeling.model_folder import load_manifest
from masker.progress import progress_bar


def export_model(
    model: str | Path,
    *,
    int8: bool = False,
    output: str | Path | None = None,
    check: str | None = None,
    ood: Sequence[str] = (),
    data_settings: DataSettings | None = None,
) -> ExportReport:
    """Export a model to ONNX and, with ``check``, compare its answers with PyTorch's.

    Args:
        model: The model folder.
        int8: Also write a graph with 8-bit weights.
        output: A new folder without PyTorch weights; ``None`` adds the graphs to ``model``.
        check: Labelled texts to compare on.
        ood: Out-of-distribution texts to compare on as well.
        data_settings: How to read ``check`` and ``ood``.

    Raises:
        ConfigError: When ``ood`` or ``data_settings`` come without ``check``, or ``output`` exists.
        ModelError: When the model cannot be exported exactly; nothing is written then.
    """
    if check is None:
        if ood:
            raise ConfigError("--ood is measured against in-distribution texts; add labelled ones with --check FILE")
        if data_settings is not None:
            raise ConfigError("options on columns and rows apply to --check FILE; add it, or leave them out")
        return export_onnx(model, int8=int8, output=output)
    head = load_manifest(model).manifest["settings"]["model"]["head"]
    sources = EvaluationSources(check, ood)
    data = CheckData(*read_evaluation(sources, data_settings or DataSettings(), head=head))
    with progress_bar(len(data) * (3 if int8 else 2), "compare", "doc") as bar:
        return export_onnx(model, int8=int8, output=output, check=data, advance=bar.update)
