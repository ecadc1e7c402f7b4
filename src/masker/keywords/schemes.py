"""The keyword schemes by name; importing this module registers the built-in ones.

A plug-in (entry-point group ``masker.keywords``) subclasses :class:`KeywordScheme` and adds an instance to
:data:`masker.registry.KEYWORD_SCHEMES`.
"""

from masker.keywords.attention import AttentionScheme
from masker.keywords.frequency import FrequencyScheme
from masker.keywords.random import RandomScheme
from masker.keywords.scheme import Evidence, KeywordScheme
from masker.registry import KEYWORD_SCHEMES

for _scheme in (AttentionScheme(), FrequencyScheme(), RandomScheme()):
    KEYWORD_SCHEMES.add(_scheme.name, _scheme)

__all__ = ["Evidence", "KeywordScheme"]
