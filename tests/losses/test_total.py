"""L_total with the paper's weights, by hand."""

import pytest
import torch

from masker.config import build_settings
from masker.losses.total import total_loss

CE = torch.tensor([0.5, 2.0])
MKR = torch.tensor([4.0, 0.0])
MER = torch.tensor([1.5, 3.0])


@pytest.mark.parametrize(
    ("preset", "expected"),
    [
        # 0.5 + 0.001*4 + 0.001*1.5 = 0.5055;  2 + 0 + 0.001*3 = 2.003
        ("ood", [0.5055, 2.003]),
        # 0.5 + 0.001*4 + 0.0001*1.5 = 0.50415;  2 + 0 + 0.0001*3 = 2.0003
        ("cross-domain", [0.50415, 2.0003]),
    ],
)
def test_total_by_hand(preset, expected):
    weights = build_settings(preset=preset).loss
    total = total_loss(CE, MKR, MER, weights.lambda_mkr, weights.lambda_mer)
    assert total.tolist() == pytest.approx(expected, rel=1e-6)


def test_terms_switched_off():
    """Lambdas 10 and 100: CE + 10 MKR = (40.5, 2); CE + 100 MER = (150.5, 302); neither: CE itself."""
    assert total_loss(CE, MKR, None, 10.0, 100.0).tolist() == pytest.approx([40.5, 2.0])
    assert total_loss(CE, None, MER, 10.0, 100.0).tolist() == pytest.approx([150.5, 302.0])
    torch.testing.assert_close(total_loss(CE, None, None, 10.0, 100.0), CE, rtol=0, atol=0)


def test_lambda_zero_is_the_classification_loss_bit_for_bit():
    torch.testing.assert_close(total_loss(CE, MKR, MER, 0.0, 0.0), CE, rtol=0, atol=0)


def test_inputs_are_left_alone():
    before = CE.clone()
    total_loss(CE, MKR, MER, 1.0, 1.0)
    torch.testing.assert_close(CE, before, rtol=0, atol=0)


def test_gradient_of_each_term_is_its_weight():
    terms = [tensor.clone().requires_grad_() for tensor in (CE, MKR, MER)]
    total_loss(*terms, 1e-3, 1e-4).sum().backward()
    for tensor, weight in zip(terms, (1.0, 1e-3, 1e-4), strict=True):
        assert tensor.grad.tolist() == pytest.approx([weight] * 2)
