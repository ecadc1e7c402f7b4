"""Backends: token ids in, logits and features out."""
