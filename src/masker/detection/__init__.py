"""Out-of-distribution scores (higher = more out) and the threshold that turns a score into a decision."""
