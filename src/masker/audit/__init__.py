"""How much a classifier leans on keywords, for any sequence classifier of transformers."""

from masker.audit.conduct import audit, audit_model
from masker.audit.model import AuditedModel, open_model
from masker.audit.result import Audit, Comparison, compare
from masker.audit.run import run_audit

__all__ = ["Audit", "AuditedModel", "Comparison", "audit", "audit_model", "compare", "open_model", "run_audit"]
