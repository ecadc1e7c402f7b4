"""Groups among texts that no class fits: candidates for new classes."""

from masker.discovery.discovering import DiscoverySettings, discover_groups
from masker.discovery.text_groups import Discovery, TextGroup

__all__ = ["Discovery", "DiscoverySettings", "TextGroup", "discover_groups"]
