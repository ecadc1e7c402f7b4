"""How much a classifier relies on keywords, for any transformers sequence classifier."""

from masker.audit.audited_model import AuditedModel, open_audited_model
from masker.audit.keyword_audit import Audit, AuditComparison, audit, audit_model, compare_audits

__all__ = ["Audit", "AuditComparison", "AuditedModel", "audit", "audit_model", "compare_audits", "open_audited_model"]
