"""New classes and examples for a trained model, without training its encoder again."""

from masker.extension.extended_folder import BusyFolderError, extend_folder
from masker.extension.extending import Extension, check_extendable, extend_model
from masker.extension.retraining import retrain_folder

__all__ = ["BusyFolderError", "Extension", "check_extendable", "extend_folder", "extend_model", "retrain_folder"]
