"""Predicting a folder of files, the shards, in this process or on a Ray cluster."""

from masker.commands.predict_shards import ShardsSummary, predict_shards

__all__ = ["ShardsSummary", "predict_shards"]
