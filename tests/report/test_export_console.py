"""The result of an export on stdout."""

from __future__ import annotations

from pathlib import Path

from masker.export import ExportedFile, ExportReport
from masker.report.export_console import print_export

FILES = {
    "onnx": ExportedFile(2_345_678, "0" * 64, 1.2e-6, 3e-6),
    "onnx-int8": ExportedFile(600_000, "1" * 64, 0.02, 0.3),
}


def test_files_and_the_command_to_try(capsys):
    print_export(ExportReport(Path("models/[new]"), FILES, {}))
    out = capsys.readouterr().out
    rows = [line for line in out.splitlines() if "onnx" in line]
    assert "2.3" in rows[0] and "1.2e-06" in rows[0] and "3.0e-06" in rows[0]
    assert "0.6" in rows[1] and "2.0e-02" in rows[1]
    assert out.splitlines()[-1] == "try:   echo 'some text' | masker predict models/[new] - --backend onnx-int8"
    assert "compared with PyTorch" not in out


def test_backends_side_by_side(capsys):
    figures = {"accuracy": 0.9, "auroc": {"[other]": 0.8}}
    agreement = {
        "documents": {"test": 12, "[other]": 8},
        "backends": {
            "torch": figures,
            "onnx": {
                **figures, "label_agreement": 1.0, "is_ood_agreement": 0.95, "max_confidence_difference": 0.0001234,
            },
        },
    }  # fmt: skip
    print_export(ExportReport(Path("model"), FILES, {}, agreement))
    out = capsys.readouterr().out
    assert "compared with PyTorch (documents: test 12, [other] 8)" in out
    for heading in ("same label", "same is_ood", "max Δ confidence", "accuracy", "AUROC [other]"):
        assert heading in out
    assert "pearson" not in out
    table = out[out.index("compared") :].splitlines()
    torch, onnx = (next(line for line in table if name in line and "│" in line) for name in ("torch", "onnx "))
    assert torch.count("0.9000") == onnx.count("0.9000") == 1
    assert "0.9500" in onnx and "0.0001" in onnx and "0.9500" not in torch


def test_regressions_have_columns_of_their_own(capsys):
    backends = {"torch": {"pearson": 0.7, "mse": 1.5}, "onnx": {"pearson": 0.7, "mse": 1.5, "max_difference": 2e-5}}
    print_export(ExportReport(Path("model"), FILES, {}, {"documents": {"test": 3}, "backends": backends}))
    out = capsys.readouterr().out
    assert "pearson" in out and "mse" in out and "max Δ " in out
    assert "same label" not in out and "AUROC" not in out
