"""``python -m benchmarks.serving_contenders NAME MODEL PORT``: other ways to put a classifier behind HTTP.

=============  ===============================================================================
``pipeline``   transformers' pipeline behind FastAPI, a text at a time: what tutorials show
``ray``        our model behind Ray Serve, with the batches of ``@serve.batch``, one replica
``bulk``       no HTTP: scores texts for every line on standard input, and says how long it took
=============  ===============================================================================
"""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any

BACKEND = "onnx-int8"
BATCH, WAIT_SECONDS = 64, 0.001
CLASSIFY = "/v1/classify"


def open_model(folder: str) -> Any:
    from masker.model import Model
    from masker.service.server import use_one_core_for_blas

    model = Model.open(folder, BACKEND)
    use_one_core_for_blas()
    return model


def answers(model: Any, requests: list[list[str]]) -> list[dict[str, Any]]:
    """The answers of several requests, scored together."""
    found = iter(model.predict([text for texts in requests for text in texts]))
    return [{"predictions": [next(found).as_dict() for _ in texts]} for texts in requests]


def serve_pipeline(folder: str, port: int) -> None:
    import uvicorn
    from fastapi import FastAPI
    from transformers import pipeline

    classify = pipeline("text-classification", model=folder, device="cpu", truncation=True)
    app = FastAPI()

    @app.get("/health")
    async def health() -> str:
        return "ok"

    @app.post(CLASSIFY)
    async def answer(content: dict[str, Any]) -> dict[str, Any]:
        return {"predictions": [classify(text)[0] for text in content["texts"]]}

    uvicorn.run(app, port=port, log_level="error", access_log=False)


def serve_ray(folder: str, port: int) -> None:
    from ray import serve
    from starlette.requests import Request
    from starlette.responses import JSONResponse

    from masker.ray.cluster import open_cluster
    from masker.ray.replicas import running_replicas

    # Ray would give it one thread for its one CPU; the others have all cores.
    threads = {"env_vars": {"OMP_NUM_THREADS": str(os.cpu_count())}}

    @serve.deployment(max_ongoing_requests=1024, ray_actor_options={"num_cpus": 1, "runtime_env": threads})
    class Batches:
        def __init__(self) -> None:
            self.model = open_model(folder)

        @serve.batch(max_batch_size=BATCH, batch_wait_timeout_s=WAIT_SECONDS)
        async def classify(self, requests: list[list[str]]) -> list[dict[str, Any]]:
            import asyncio

            return await asyncio.to_thread(answers, self.model, requests)

        async def __call__(self, request: Request) -> Any:
            if request.url.path == "/health":
                return "ok"
            return JSONResponse(await self.classify((await request.json())["texts"]))

    with open_cluster(1, 1), running_replicas(Batches.bind(), "127.0.0.1", port):
        while True:
            time.sleep(1)


def score_in_bulk(folder: str) -> None:
    from masker.model import Model

    model = Model.open(folder, BACKEND)
    print("ready", flush=True)
    for line in sys.stdin:
        texts = json.loads(line)
        start = time.perf_counter()
        model.predict(texts)
        print(time.perf_counter() - start, flush=True)


if __name__ == "__main__":
    name, path = sys.argv[1:3]
    if name == "bulk":
        score_in_bulk(path)
    else:
        {"pipeline": serve_pipeline, "ray": serve_ray}[name](path, int(sys.argv[3]))
