"""The public names of ``masker.metrics``, and a cheap import."""

from __future__ import annotations

import subprocess
import sys

import masker.metrics


def test_all_names_exist_and_nothing_public_is_missing():
    public = {
        name
        for name, item in vars(masker.metrics).items()
        if not name.startswith("_") and getattr(item, "__module__", None)  # modules have no __module__
    }
    assert set(masker.metrics.__all__) == public
    assert masker.metrics.__all__ == sorted(masker.metrics.__all__)


def test_import_pulls_in_neither_scipy_nor_scikit_learn_nor_torch():
    check = (
        "import sys, masker; before = set(sys.modules); import masker.metrics; "
        "print(*sorted({m.split('.')[0] for m in set(sys.modules) - before} & {'scipy', 'sklearn', 'torch', 'pandas'}))"
    )
    result = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == ""
