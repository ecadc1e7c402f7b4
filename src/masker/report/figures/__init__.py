"""One file a figure: from what the report shows to a matplotlib figure. Needs the extra ``masker[report]``."""
