"""``masker keywords``: the keywords of a data set, or those a model was trained with."""

from __future__ import annotations

from masker import distributed
from masker.commands.train import read_training_documents
from masker.config import Settings
from masker.errors import ConfigError
from masker.extras import require
from masker.keywords import KeywordSet
from masker.modeling.model_folder import load_manifest


def keywords_of_data(data: str, settings: Settings, device: str = "auto") -> KeywordSet:
    """The keywords that training on ``data`` would use; attention trains its vanilla stage, or reads a given model."""
    require("ranking the keywords of data", "torch", "transformers", "sklearn")
    from masker.training.run import TrainingRun

    documents = read_training_documents(data, settings)
    classes = [] if settings.model.head == "regression" else documents.class_names
    with distributed.temporary_folder() as work:
        return TrainingRun(documents, classes, settings, work, device).find_keywords()


def keywords_of_model(folder: str) -> KeywordSet:
    """The keywords a model was trained with.

    Raises:
        ConfigError: When it was trained without keywords.
    """
    manifest = load_manifest(folder).manifest
    if manifest.get("keywords") is None:
        method = manifest["settings"]["training"]["method"]
        raise ConfigError(f"'{folder}' was trained without keywords (method {method}); rank those of its data instead")
    return KeywordSet.from_json(manifest["keywords"])
