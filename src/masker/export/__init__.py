"""ONNX export of a trained classifier, checked against PyTorch."""

from masker.export.agreement import CheckData
from masker.export.onnx import ExportedFile, ExportReport, export_onnx

__all__ = ["CheckData", "ExportReport", "ExportedFile", "export_onnx"]
