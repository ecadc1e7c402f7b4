"""What a service accepts, how it batches, and who may use it. The defaults of ``masker serve`` are here."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ServiceOptions:
    """Limits and settings of a service.

    Attributes:
        max_batch_tokens: Tokens scored together, over all requests that wait.
        batch_wait_ms: How long an idle service waits for company after a request arrives.
        max_queue: Texts that may wait; a request that finds as many waiting is refused with 429.
        max_texts: Texts of one request.
        max_characters: Characters of one text; of a pair, both parts together.
        max_body_bytes: Bytes of one request.
        request_timeout: Seconds a request may wait for its answer.
        token: Callers must send this bearer token; ``None`` asks for none.
        log_texts: Whether the log shows the texts.
    """

    max_batch_tokens: int = 4096
    batch_wait_ms: float = 2.0
    max_queue: int = 4096
    max_texts: int = 1024
    max_characters: int = 100_000
    max_body_bytes: int = 8 * 2**20
    request_timeout: float = 30.0
    token: str | None = None
    log_texts: bool = False
