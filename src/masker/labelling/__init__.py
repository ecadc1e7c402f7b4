"""Which texts to label next."""

from masker.labelling.label_choice import Suggestion, choose_texts

__all__ = ["Suggestion", "choose_texts"]
