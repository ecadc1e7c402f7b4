"""One module a score: equation, class and registration. Importing this package registers all of them.

See :mod:`masker.detection.score` for how to add one.
"""

from importlib import import_module
from pkgutil import iter_modules

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")
