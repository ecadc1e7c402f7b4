"""When documents are cross-fitted, and the mean of networks."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from masker.config import ModelSettings, build_settings
from masker.errors import ConfigError
from masker.inference.linear_backend import LinearBackend
from masker.inference.torch_backend import TorchBackend
from masker.modeling.backbone import load_backbone
from masker.training.cross_fitting import ALWAYS_BELOW, CROSS_FIT_BELOW, FEW_TOKENS, BackendMean, uses_cross_fitting


@pytest.mark.parametrize(
    ("documents", "tokens", "expected"),
    [
        (8, 80, True),
        (ALWAYS_BELOW - 1, 10**6, True),
        (ALWAYS_BELOW, FEW_TOKENS, True),
        (ALWAYS_BELOW, FEW_TOKENS + 1, False),
        (CROSS_FIT_BELOW - 1, FEW_TOKENS, True),
        (CROSS_FIT_BELOW, FEW_TOKENS, False),
    ],
)
def test_small_data_are_cross_fitted(documents, tokens, expected):
    assert uses_cross_fitting(build_settings(), documents, tokens) is expected


def test_labels_are_cross_fitted_whatever_it_takes():
    """25 held-out documents of 500 would not tell how low a threshold must be to miss few labels."""
    labels = build_settings({"model": {"head": "multi-label"}})
    assert uses_cross_fitting(labels, CROSS_FIT_BELOW - 1, 10 * FEW_TOKENS)
    assert not uses_cross_fitting(labels, CROSS_FIT_BELOW, 10 * FEW_TOKENS)


@pytest.mark.parametrize(("calibration", "documents", "expected"), [("split", 8, False), ("cross-fit", 10**5, True)])
def test_the_setting_decides_at_any_size(calibration, documents, expected):
    settings = build_settings({"detection": {"calibration": calibration}})
    assert uses_cross_fitting(settings, documents, 100 * documents) is expected


ABLE = [("masker", {}), ("vanilla", {}), ("linear", {}), ("vanilla", {"head_start": "new", "averaged_share": 0.5})]
NOT_ABLE = [
    *((method, {}) for method in ("residual", "openmax", "doc", "ocsvm")),
    ("masker", {"averaged_share": 0.0}),  # a held-out part chooses the best checkpoint
    ("vanilla", {"head_start": "new"}),
    ("masker", {"head_start": "new"}),  # as in its vanilla stage
]


@pytest.mark.parametrize(("method", "training"), ABLE)
def test_methods_whose_models_have_a_mean(method, training):
    assert uses_cross_fitting(build_settings({"training": {"method": method, **training}}), 50, 500)


@pytest.mark.parametrize(("method", "training"), NOT_ABLE)
def test_others_set_documents_aside(method, training):
    sections = {"training": {"method": method, **training}}
    assert not uses_cross_fitting(build_settings(sections), 50, 500)
    message = (
        rf"detection\.calibration=cross-fit: not possible for method {method} .*; use detection\.calibration=split"
    )
    with pytest.raises(ConfigError, match=message):
        uses_cross_fitting(build_settings(sections, {"detection": {"calibration": "cross-fit"}}), 50, 500)


def test_a_regression_sets_documents_aside():
    settings = {"model": {"head": "regression"}, "training": {"method": "vanilla"}}
    assert not uses_cross_fitting(build_settings(settings), 50, 500)


# --- the mean --------------------------------------------------------------------------------------------------------


def network(folder, seed) -> TorchBackend:
    torch.manual_seed(seed)
    backbone = load_backbone(ModelSettings(backbone=folder), ["a", "b", "c"])
    with torch.no_grad():
        for parameter in backbone.classifier.parameters():
            parameter.add_(torch.randn_like(parameter))
    head = {"token_head.weight": torch.randn(4, 32).numpy(), "token_head.bias": torch.randn(4).numpy()}
    return TorchBackend(backbone.classifier, backbone.tokenizer, "cpu", tensors=head)


def copies(backend):
    weights = {**backend.classifier.state_dict(), **backend.own_tensors}
    return {name: tensor.clone() for name, tensor in weights.items()}


def test_mean_of_networks_and_their_token_heads(tiny_backbones):
    backends = [network(tiny_backbones["bert"], seed) for seed in range(3)]
    parts, mean = [copies(backend) for backend in backends], BackendMean()
    for backend in backends:
        mean.add(backend)
    found = copies(mean.result())
    assert set(found) == set(parts[0])
    for name, tensor in found.items():
        if tensor.dtype.is_floating_point:
            torch.testing.assert_close(tensor, torch.stack([part[name] for part in parts]).mean(dim=0))


def test_mean_of_linear_classifiers():
    draw, mean = np.random.default_rng(0), BackendMean()
    weights, biases = draw.normal(size=(4, 3, 5)), draw.normal(size=(4, 3))
    for weight, bias in zip(weights, biases, strict=True):
        mean.add(LinearBackend(None, weight, bias))
    vectors = draw.normal(size=(6, 5))
    expected = vectors @ weights.mean(axis=0).T + biases.mean(axis=0)
    np.testing.assert_allclose(mean.result().outputs_of(vectors).logits, expected, rtol=1e-5, atol=1e-6)


def test_backends_of_two_kinds_have_no_mean(tiny_backbones):
    mean = BackendMean()
    mean.add(LinearBackend(None, np.zeros((3, 2)), np.zeros(3)))
    with pytest.raises(TypeError, match="weights of TorchBackend cannot be averaged"):
        mean.add(network(tiny_backbones["bert"], 0))
