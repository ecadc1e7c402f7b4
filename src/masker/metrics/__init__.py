"""Detection, classification, clustering and regression metrics, with bootstrap intervals.

Pure functions of arrays. A higher score means more out-of-distribution, and out-of-distribution is the positive class.
"""

from masker.metrics.classification import accuracy, classification_report, expected_calibration_error, macro_f1
from masker.metrics.clustering import clustering_accuracy, clustering_report
from masker.metrics.intervals import Interval, binomial_interval, bootstrap
from masker.metrics.label_sets import label_set_report, label_table, micro_f1, missed_shares
from masker.metrics.ood_detection import aupr, auroc, detection_accuracy, detection_report, eer, fpr_at_tpr, tnr_at_tpr
from masker.metrics.open_set import f1_known, f1_unknown, open_accuracy, open_f1, open_set_report
from masker.metrics.regression import mean_squared_error, pearson, regression_report, spearman
from masker.metrics.roc import RocCurve, roc_curve
from masker.metrics.selective import RiskCoverage, aurc, risk_coverage, selective_report

__all__ = [
    "Interval",
    "RiskCoverage",
    "RocCurve",
    "accuracy",
    "aupr",
    "aurc",
    "auroc",
    "binomial_interval",
    "bootstrap",
    "classification_report",
    "clustering_accuracy",
    "clustering_report",
    "detection_accuracy",
    "detection_report",
    "eer",
    "expected_calibration_error",
    "f1_known",
    "f1_unknown",
    "fpr_at_tpr",
    "label_set_report",
    "label_table",
    "macro_f1",
    "mean_squared_error",
    "micro_f1",
    "missed_shares",
    "open_accuracy",
    "open_f1",
    "open_set_report",
    "pearson",
    "regression_report",
    "risk_coverage",
    "roc_curve",
    "selective_report",
    "spearman",
    "tnr_at_tpr",
]
