"""Speed, measured side by side in one run. Every figure is a ratio; ``make bench`` writes table and JSON."""

import masker as masker  # before torch, as in any program that uses it: it sets how torch's threads wait
