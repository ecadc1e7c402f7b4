"""Ray clusters: starting one, and sharing out work on it."""
