"""Speed, measured side by side in one run. Every figure is a ratio; ``make bench`` writes table and JSON."""
