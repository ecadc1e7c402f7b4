"""Model folders of earlier versions open and predict the same."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from safetensors.torch import load_file, save_file

from masker import Model, ModelError
from masker.modeling.pooling import DOCUMENT_TOKEN, pooling_of
from tests.conftest import make_corpus

FIXTURES = Path(__file__).parent.parent / "fixtures"


@pytest.mark.parametrize("name", ["masker-bert", "linear-roberta"])
def test_an_earlier_folder_predicts_the_same(name):
    expected = json.loads((FIXTURES / f"{name}.json").read_text())
    model = Model.open(FIXTURES / name, device="cpu")
    found = [prediction.as_dict() for prediction in model.predict([row["text"] for row in expected])]
    for row, now in zip(expected, found, strict=True):
        assert now["label"] == row["label"] and now["is_ood"] == row["is_ood"]
        for figure in ("confidence", "p_value", "ood_score"):
            # Processors round differently: AVX2 and AVX-512 were seen 4e-6 apart.
            assert now[figure] == pytest.approx(row[figure], rel=1e-4), (row["text"], figure)


def test_an_earlier_folder_keeps_its_head_and_pooling():
    """What it does not say is not read as today's default."""
    model = Model.open(FIXTURES / "masker-bert", device="cpu")
    assert model.settings.model.head == "one-vs-rest"
    assert pooling_of(model.backend.classifier.config) == DOCUMENT_TOKEN
    assert "decisions" not in model.provenance


def test_an_earlier_folder_is_calibrated_and_saved_again(tmp_path):
    expected = json.loads((FIXTURES / "masker-bert.json").read_text())
    texts = [row["text"] for row in expected]
    model = Model.open(FIXTURES / "masker-bert", device="cpu", score="max-prob", false_alarm_rate=0.2)
    assert model.settings.detection.score == "max-prob"
    folder = model.save(tmp_path / "again")
    assert Model.open(folder, device="cpu").predict(texts) == model.predict(texts)
    assert "warm_start" not in json.loads((folder / "masker.json").read_text())["settings"]["training"]


def changed(tmp_path, *, score: str | None = None, method: str | None = None) -> Path:
    folder = shutil.copytree(FIXTURES / "masker-bert", tmp_path / "model")
    manifest = json.loads((folder / "masker.json").read_text())
    if method is not None:
        manifest["settings"]["training"]["method"] = method
    if score is not None:
        manifest["settings"]["detection"]["score"] = manifest["score"] = score
        tensors = load_file(folder / "masker.safetensors")
        save_file({**tensors, f"held_out.{score}": tensors["held_out.energy"].clone()}, folder / "masker.safetensors")
    (folder / "masker.json").write_text(json.dumps(manifest))
    return folder


def test_a_method_that_is_not_installed_is_named(tmp_path):
    with pytest.raises(ModelError, match="uses the method 'magic', which is not installed"):
        Model.open(changed(tmp_path, method="magic"))


def test_a_model_with_a_removed_score_opens_and_can_be_calibrated(tmp_path):
    """``vim`` was a score of earlier versions: its model predicts nothing, but takes another score."""
    model = Model.open(changed(tmp_path, score="vim"), device="cpu")
    with pytest.raises(ModelError, match=r"score 'vim', which was removed from masker.*masker calibrate"):
        model.predict(["moon"])
    texts, labels = make_corpus(60, seed=5)
    assert model.calibrate(texts, labels, score="energy").predict(["moon"])[0].ood_score is not None
