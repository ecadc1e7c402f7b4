"""What a report shows, as numbers: computed from a model and documents. :mod:`masker.report` draws them."""
