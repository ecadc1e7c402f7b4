"""The terms of the objective, one file an equation. Each function gives one value for each document.

Values for each document, not means, so that the Trainer can divide by the number of documents of a whole accumulated
or distributed batch, and n micro-batches give the gradient of one large batch.
"""
