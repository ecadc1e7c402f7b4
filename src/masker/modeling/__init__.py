"""Backbones, the network with its two heads, and the model folder."""
