"""Corpora that can be had by name."""
