"""``python -m benchmarks.litserve_system MODEL PORT``: our model behind LitServe, with LitServe's batches.

LitServe comes from its own environment (``python -m benchmarks.environments litserve``), everything else from this one.
"""

from __future__ import annotations

import sys
from typing import Any

from benchmarks.environments import LITSERVE
from benchmarks.serving_contenders import BATCH, CLASSIFY, WAIT_SECONDS, answers, open_model

sys.path += [str(path) for path in LITSERVE.folder.glob("lib/python*/site-packages")]

import litserve


class Api(litserve.LitAPI):
    """LitServe sends it to its worker, so it stands in a module."""

    def setup(self, device: str) -> None:
        self.model = open_model(sys.argv[1])

    def decode_request(self, request):  # LitServe reads annotations, and does not know those of another module
        return list(request["texts"])

    def batch(self, inputs: list[list[str]]) -> list[list[str]]:
        return inputs

    def predict(self, inputs: list[list[str]]) -> list[dict[str, Any]]:
        return answers(self.model, inputs)

    def unbatch(self, output: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return output

    def encode_response(self, output: dict[str, Any]) -> dict[str, Any]:
        return output


def main() -> None:
    api = Api(max_batch_size=BATCH, batch_timeout=WAIT_SECONDS, api_path=CLASSIFY)
    server = litserve.LitServer(api, accelerator="cpu", timeout=120)
    server.run(host="127.0.0.1", port=int(sys.argv[2]), generate_client_file=False, log_level="error")


if __name__ == "__main__":
    main()
