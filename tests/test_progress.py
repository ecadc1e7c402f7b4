import io
import sys

import pytest

from masker import progress
from masker.progress import progress_bar


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_bars_go_to_stderr(capsys):
    with progress_bar(3, "read", "doc") as bar:
        bar.update(3)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "read: 100%" in shown.err and "3/3" in shown.err


@pytest.mark.parametrize(("stream", "interval"), [(Terminal, 0.2), (io.StringIO, 15.0)])
def test_without_a_terminal_lines_are_rare(monkeypatch, stream, interval):
    monkeypatch.setattr(sys, "stderr", stream())
    with progress_bar(3, "read") as bar:
        assert bar.mininterval == interval


def test_only_the_first_process_has_a_bar(monkeypatch, capsys):
    monkeypatch.setattr(progress.distributed, "is_first", lambda: False)
    with progress_bar(3, "read") as bar:
        bar.update(3)
    assert capsys.readouterr().err == ""
