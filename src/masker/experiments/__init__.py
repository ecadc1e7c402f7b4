"""Experiments: the demonstration that 'masker demo' runs."""
