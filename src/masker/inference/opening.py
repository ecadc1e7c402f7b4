"""Opening the network of a model folder. An exported one is opened without PyTorch and without transformers."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy.typing as npt

from masker.errors import ConfigError, ModelError
from masker.extras import require
from masker.inference.backend import Backend, check_backend
from masker.inference.onnx_backend import FILES, ONNX_FOLDER, OnnxBackend, find_export, weight_files
from masker.modeling.folder_tokenizer import FolderTokenizer

Tensors = dict[str, npt.NDArray[Any]]


class Network(NamedTuple):
    """A tokenizer, and what runs on its tokens."""

    tokenizer: Any
    backend: Backend


def open_network(
    folder: Path, tensors: Tensors, backend: str | None = None, device: str = "auto", *, fine_tuned: bool = True
) -> Network:
    """Open the network of a model folder.

    Args:
        folder: A model folder.
        tensors: The content of ``masker.safetensors``.
        backend: A name of :mod:`masker.inference.backend`; ``None`` takes torch unless the folder was exported without
            its weights.
        device: Where PyTorch runs; ONNX Runtime runs on the CPU.
        fine_tuned: Whether the folder has a network of its own; otherwise a linear classifier on fixed vectors.

    Raises:
        ConfigError: When there is no such backend or device, or a linear classifier does not have it.
        MissingPackageError: When the backend needs a package that is not installed.
        ModelError: When the weights cannot be opened, or the folder has no current export for the backend.
    """
    if not fine_tuned:
        return _open_linear(folder, tensors, backend, device)
    check_backend(backend)
    if backend is None:
        backend = "onnx" if (folder / ONNX_FOLDER).is_dir() and not weight_files(folder) else "torch"
    if backend not in FILES:
        return _open_torch(folder, tensors, backend, device)
    if device not in ("auto", "cpu"):
        raise ConfigError(f"backend {backend} runs on the CPU; got --device {device}: leave it out, or use torch")
    graph = find_export(folder, backend)
    tokenizer = FolderTokenizer(folder)
    return Network(tokenizer, OnnxBackend(graph, tokenizer.pad_token_id))


def _open_torch(folder: Path, tensors: Tensors, backend: str, device: str) -> Network:
    way_round = "export the model elsewhere ('masker export') and use --backend onnx or onnx-int8"
    require(f"backend {backend}", "torch", "transformers", instead=way_round)
    from masker.inference.torch_backend import TorchBackend
    from masker.modeling.backbone import check_vocabulary, load_classifier, load_tokenizer

    tokenizer = load_tokenizer(str(folder))
    classifier, found = load_classifier(str(folder), output_loading_info=True)
    if found["missing_keys"]:  # transformers would fill them with random numbers
        missing = sorted(found["missing_keys"])
        raise ModelError(
            f"the weights in '{folder}' lack {len(missing)} tensors ({missing[0]}, …); restore or retrain the model"
        )
    check_vocabulary(folder, tokenizer, classifier.get_input_embeddings().num_embeddings)
    return Network(
        tokenizer, TorchBackend(classifier, tokenizer, device, bf16=backend == "torch-bf16", tensors=tensors)
    )


def _open_linear(folder: Path, tensors: Tensors, backend: str | None, device: str) -> Network:
    possible = ("torch",) if "features.idf" in tensors else ("torch", "torch-bf16")
    if backend not in (None, *possible):
        raise ConfigError(f"this model is a linear classifier without a network for backend '{backend}'; leave it out")
    require("a linear classifier, which has no network to export,", "torch", "transformers", "sklearn")
    from masker.inference.linear_backend import open_linear_backend
    from masker.modeling.backbone import load_tokenizer

    tokenizer = load_tokenizer(str(folder))
    return Network(tokenizer, open_linear_backend(folder, tokenizer, tensors, backend, device))
