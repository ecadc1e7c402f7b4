"""Figures need an optional package."""

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("matplotlib") else ["test_*.py"]
