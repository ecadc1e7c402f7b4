"""The classic detectors that MASKER is compared with: their equations, and the statistics they are fitted to."""
