"""The Trainer and the methods: vanilla fine-tuning and MASKER."""
