"""The two masked views of a document, and the collator that builds them for a batch."""
