"""Where files may go."""

from __future__ import annotations

import pytest

from masker.errors import ConfigError
from masker.report.output_folder import check_output_folder


def test_an_output_that_cannot_be_a_folder(tmp_path):
    file = tmp_path / "file"
    file.write_text("")
    assert check_output_folder(tmp_path / "a" / "b") == tmp_path / "a" / "b"
    assert not (tmp_path / "a").exists(), "checking writes nothing"
    for output in (file, file / "below"):
        with pytest.raises(ConfigError, match=f"output '{file}' is a file; give a folder with --output"):
            check_output_folder(output)
