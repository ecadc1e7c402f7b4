"""New classes and examples for a trained model, without training its encoder again."""

from masker.extension.extending import Extension, extend_model

__all__ = ["Extension", "extend_model"]
