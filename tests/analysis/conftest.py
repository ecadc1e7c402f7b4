"""Fixtures that analyses share with the recipes that ask for them."""

from tests.experiments.conftest import analysed, corpora, data_folder, tiny_recipe

__all__ = ["analysed", "corpora", "data_folder", "tiny_recipe"]
