"""``masker serve``: answer over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING

from masker.extras import require

if TYPE_CHECKING:
    from masker.ray.cluster import RayOptions
    from masker.service.served_folder import ServedFolder
    from masker.service.server import Listening


def serve(served: ServedFolder, listening: Listening, *, ray: RayOptions | None = None) -> None:
    """Serve the model of a folder until the process is asked to stop.

    Args:
        served: The folder.
        listening: Where to listen.
        ray: Serve with replicas on a Ray cluster; ``None`` serves with workers of this machine.

    Raises:
        ConfigError: When the port is taken, or open to everybody by mistake.
        MissingPackageError: When the packages of ``masker[serve]`` are not installed.
        ModelError: When the model cannot be opened.
    """
    require("masker serve", "fastapi", "uvicorn", "prometheus_client")
    if ray is not None:
        from masker.service.deployment import serve_on_ray

        serve_on_ray(served, listening, ray)
        return
    from masker.service.server import run_server

    run_server(served, served.options, listening)
