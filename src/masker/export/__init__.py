"""Exporting a trained classifier for other engines, with a comparison against the original."""

from masker.export.agreement import CheckData
from masker.export.onnx import ExportedFile, ExportReport, export_onnx

__all__ = ["CheckData", "ExportReport", "ExportedFile", "export_onnx"]
