"""What a service accepts, how it batches, and who may use it. The defaults of ``masker serve`` are here."""

from __future__ import annotations

from dataclasses import dataclass, fields

from masker.errors import ConfigError


@dataclass(frozen=True)
class ServiceOptions:
    """Limits and settings of a service.

    Attributes:
        max_batch_tokens: Tokens scored together, over all requests that wait.
        batch_wait_ms: How long an idle service waits for more requests after the first.
        max_queue: Texts that may wait; a request that finds as many waiting is refused with 429.
        max_texts: Texts of one request.
        max_evidence: Texts of one request that asks for evidence, which costs many passes for each.
        max_characters: Characters of one text; of a pair, both parts together.
        max_body_bytes: Bytes of one request.
        request_timeout: Seconds that a request may take to arrive, and again to be answered.
        token: Callers must send this bearer token; ``None`` asks for none.
        log_texts: Whether the log shows the texts.
    """

    max_batch_tokens: int = 8192
    batch_wait_ms: float = 1.0
    max_queue: int = 4096
    max_texts: int = 1024
    max_evidence: int = 16
    max_characters: int = 100_000
    max_body_bytes: int = 8 * 2**20
    request_timeout: float = 30.0
    token: str | None = None
    log_texts: bool = False

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name.startswith("max_") and value < 1:
                raise ConfigError(f"{field.name}: must be at least 1; got {value}")
        if not 0 <= self.batch_wait_ms <= 1000:
            raise ConfigError(f"batch_wait_ms: must lie between 0 and 1000; got {self.batch_wait_ms:g}")
        if not self.request_timeout > 0:
            raise ConfigError(f"request_timeout: must be greater than 0; got {self.request_timeout:g}")
        if self.token is not None and not self.token.isascii():
            raise ConfigError("the token has letters that no HTTP header can carry; use ASCII")

    def limits(self) -> dict[str, int]:
        """What a request must keep to."""
        names = ("max_texts", "max_evidence", "max_characters", "max_body_bytes")
        return {name: getattr(self, name) for name in names}
