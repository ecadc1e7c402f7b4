"""Model folders of earlier versions open and predict the same."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from masker import Model, ModelError

FIXTURES = Path(__file__).parent.parent / "fixtures"


@pytest.mark.parametrize("name", ["masker-bert", "linear-roberta"])
def test_an_earlier_folder_predicts_the_same(name):
    expected = json.loads((FIXTURES / f"{name}.json").read_text())
    model = Model.open(FIXTURES / name, device="cpu")
    found = [prediction.as_dict() for prediction in model.predict([row["text"] for row in expected])]
    for row, now in zip(expected, found, strict=True):
        assert now["label"] == row["label"] and now["is_ood"] == row["is_ood"]
        for figure in ("confidence", "p_value", "ood_score"):
            assert now[figure] == pytest.approx(row[figure], rel=1e-3, abs=1e-4), (row["text"], figure)


def test_an_earlier_folder_is_calibrated_and_saved_again(tmp_path):
    expected = json.loads((FIXTURES / "masker-bert.json").read_text())
    texts = [row["text"] for row in expected]
    model = Model.open(FIXTURES / "masker-bert", device="cpu", score="max-prob", false_alarm_rate=0.2)
    assert model.settings.detection.score == "max-prob"
    folder = model.save(tmp_path / "again")
    assert Model.open(folder, device="cpu").predict(texts) == model.predict(texts)
    assert "warm_start" not in json.loads((folder / "masker.json").read_text())["settings"]["training"]


@pytest.mark.parametrize(("section", "key", "name"), [("detection", "score", "vim"), ("training", "method", "magic")])
def test_a_score_or_method_that_is_not_installed_is_named(tmp_path, section, key, name):
    folder = shutil.copytree(FIXTURES / "masker-bert", tmp_path / "model")
    manifest = json.loads((folder / "masker.json").read_text())
    manifest["settings"][section][key] = name
    (folder / "masker.json").write_text(json.dumps(manifest))
    with pytest.raises(ModelError, match=f"uses the {key} '{name}', which this installation does not have"):
        Model.open(folder)
