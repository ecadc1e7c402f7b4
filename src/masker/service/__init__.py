"""The HTTP service: :func:`create_app` makes it from a model, ``masker serve`` runs it."""

from masker.service.application import create_app
from masker.service.service_options import ServiceOptions

__all__ = ["ServiceOptions", "create_app"]
