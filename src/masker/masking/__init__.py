"""The two masked views of a document and the collator that makes them for a batch."""
