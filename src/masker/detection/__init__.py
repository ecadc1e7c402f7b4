"""Out-of-distribution scores (higher = more out-of-distribution) and the decisions made from them."""
