"""The terms of the objective, one file per equation. Each function returns one loss per document.

Not a mean: the Trainer divides by the number of documents in the whole accumulated or distributed batch, so n
micro-batches give the same gradient as one large batch.
"""
