"""Load from another process."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from benchmarks import serving_load as module
from benchmarks.serving_load import children, idle_share, private_mb, wait_until_idle, write_bodies, wrk


def test_requests_have_so_many_texts_each(tmp_path):
    file = write_bodies(["a", "b", "c", "d", "ü"], 2, tmp_path / "bodies")
    assert [json.loads(line)["texts"] for line in file.read_text().splitlines()] == [["a", "b"], ["c", "d"]]


class Answers(BaseHTTPRequestHandler):
    """Answers in turns with 200, 429, 422 and 500."""

    protocol_version = "HTTP/1.1"
    turns, bodies = 0, []

    def do_POST(self):
        Answers.bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
        Answers.turns += 1
        self.send_response((200, 429, 422, 500)[Answers.turns % 4])
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *arguments):
        pass


@pytest.mark.skipif(shutil.which("wrk") is None, reason="wrk is not installed")
def test_what_wrk_saw_is_counted_by_kind(tmp_path):
    server = HTTPServer(("127.0.0.1", 0), Answers)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    bodies = write_bodies(["x", "y"], 1, tmp_path / "bodies")
    found = wrk(f"http://127.0.0.1:{server.server_port}", bodies, 1, 1, pause_ms=1)
    server.shutdown()
    assert set(Answers.bodies) == {b'{"texts": ["x"]}', b'{"texts": ["y"]}'}
    quarter = found["requests"] / 4
    assert quarter > 2
    for kind in ("too_many", "refused", "failed"):
        assert abs(found[kind] - quarter) <= 1
    assert 0 < found["p50_ms"] <= found["p99_ms"] <= found["max_ms"]


@pytest.mark.skipif(not os.path.isdir("/proc"), reason="needs /proc")
def test_processes_and_their_memory_are_found():
    script = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'input()'])"
    with subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as parent:
        while not children(parent.pid):
            pass
        (child,) = children(parent.pid)
        assert parent.pid in children(os.getpid()) and child in children(os.getpid())
        assert private_mb(parent.pid) > 1
        parent.communicate(b"\n")
    assert private_mb(child) == 0.0


def test_idle_time_is_a_share():
    assert 0.0 <= idle_share(0.05) <= 1.0


def test_waiting_ends(monkeypatch):
    """Two busy moments, then a quiet one; or the time is up."""
    moments = iter([0.1, 0.5, 0.95])
    monkeypatch.setattr(module, "idle_share", lambda: next(moments))
    wait_until_idle()
    assert next(moments, "none left") == "none left"
    monkeypatch.setattr(module, "idle_share", lambda: 0.0)
    wait_until_idle(most=0.01)
