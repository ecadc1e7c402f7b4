"""Training: methods, runs and their stages, the Trainer, and what is decided for the user."""
