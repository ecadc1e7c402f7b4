"""Where a service listens, and a real process: reload by SIGHUP, graceful shutdown."""

from __future__ import annotations

import asyncio
import signal
import socket
import time
from contextlib import closing

import pytest
import uvicorn

from masker import Client
from masker.errors import ConfigError
from masker.service.server import Listening, bind, is_loopback, listeners
from masker.service.service_options import ServiceOptions
from tests.service.running import load, running


@pytest.mark.parametrize(
    ("host", "loopback"),
    [("127.0.0.1", True), ("127.8.8.8", True), ("::1", True), ("localhost", True), ("0.0.0.0", False), ("::", False),
     ("10.0.0.1", False), ("example.org", False)],
)  # fmt: skip
def test_what_is_reached_from_this_machine_only(host, loopback):
    assert is_loopback(host) == loopback
    if loopback:
        Listening(host).check(ServiceOptions())
    else:
        with pytest.raises(ConfigError, match=f"anybody who reaches {host} could use the service; add --token-file"):
            Listening(host).check(ServiceOptions())
        Listening(host).check(ServiceOptions(token="secret"))
        Listening(host, allow_anonymous=True).check(ServiceOptions())


def test_a_port_that_is_taken_is_named():
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(ConfigError, match=f"cannot listen on 127.0.0.1, port {port} .*; choose another --port"):
            bind("127.0.0.1", port)


def test_many_new_callers_are_accepted_together():
    """Of a burst of 20 connections while the loop is busy, all are accepted in a few turns."""
    accepted, counts = [], []

    class Count(asyncio.Protocol):
        def connection_made(self, transport):
            accepted.append(transport)

    async def burst(taken):
        servers = [await loop.create_server(Count, sock=one, backlog=config.backlog) for one in listeners(taken)]
        callers = [socket.create_connection(taken.getsockname()) for _ in range(20)]  # the loop cannot turn meanwhile
        for _ in range(8):  # a turn to poll, one to accept, a few to make the connections
            await asyncio.sleep(0)
            counts.append(len(accepted))
        for end in [*callers, *accepted, *servers]:
            end.close()

    config = uvicorn.Config(None, log_config=None)  # ours would set up logging, for all tests that follow
    with bind("127.0.0.1", 0) as taken, closing(config.get_loop_factory()()) as loop:
        loop.run_until_complete(burst(taken))
    assert counts[-1] == 20


def test_one_process_reloads_on_hangup_and_finishes_what_it_accepted(folder):
    with running(str(folder)) as service:
        manifest = (folder / "masker.json").read_text()
        (folder / "masker.json").write_text("{")
        service.signal(signal.SIGHUP)
        assert "is damaged" in service.event("reload failed; the model before stays")["error"]
        with Client(service.url) as client:
            assert len(client.predict(["a"])) == 1
            (folder / "masker.json").write_text(manifest.replace('"space"', '"cosmos"'))
            service.signal(signal.SIGHUP)
            service.event("model reloaded")
            assert "cosmos" in client.model()["classes"]
        with load(service.url, retries=0) as answers:
            while len(answers) < 8:
                time.sleep(0.01)
            assert service.stop() == 0
    # Requests that came while the port or their idle connection was being closed were never read; others are answered.
    assert answers.count(3) >= 8 and answers.count(3) == service.answered(texts=3)
    refused = ("ConnectError", "RemoteProtocolError", "ReadError", "WriteError")
    assert all(answer == 3 or any(name in str(answer) for name in refused) for answer in answers), answers
