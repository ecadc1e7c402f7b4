"""Start the HTTP service in a thread, ask it with the client, and stop it.

    python examples/serve_and_ask.py [FOLDER]

In production: ``masker serve MODEL`` (docs/serving.md).
"""

from __future__ import annotations

import sys
import threading
from pathlib import Path

import uvicorn

from masker import Client, MaskerClassifier
from masker.experiments.support_messages import MESSAGES, QUESTIONS
from masker.service import create_app


def main(folder: Path) -> None:
    """Train, serve on a free port of this machine, ask; the model stays in ``folder``."""
    texts = [text for group in MESSAGES.values() for text in group]
    labels = [label for label, group in MESSAGES.items() for _ in group]
    classifier = MaskerClassifier(method="linear").fit(texts, labels)
    classifier.save(folder / "model", overwrite=True)

    server = uvicorn.Server(uvicorn.Config(create_app(classifier.model_), port=0, log_level="warning"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        thread.join(0.05)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        with Client(f"http://127.0.0.1:{port}") as client:
            for text, answer in zip(QUESTIONS, client.predict(QUESTIONS), strict=True):
                print(f"{'none of my classes' if answer.is_ood else answer.label:20} {text}")
    finally:
        server.should_exit = True
        thread.join()


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "runs/serve-and-ask"))
