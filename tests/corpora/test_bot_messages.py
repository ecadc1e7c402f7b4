"""HINT3 from made-up files of its form."""

from __future__ import annotations

import pytest

from masker import DataError
from masker.corpora.bot_messages import bot_files, read_bot

TRAIN = 'sentence,label\nwhere is it,STATUS\n"cancel it, please",CANCEL\n'
TEST = "sentence,label\nstill waiting,STATUS\n12345,NO_NODES_DETECTED\n ,CANCEL\nstop it,CANCEL\n"


@pytest.fixture
def checkout(tmp_path):
    for path, content in zip(bot_files(tmp_path, "shop"), (TRAIN, TEST), strict=True):
        path.parent.mkdir(parents=True)
        path.write_text(content, encoding="utf-8")
    return tmp_path


def test_messages_of_no_intent_are_a_split_of_their_own(checkout):
    assert [path.relative_to(checkout).as_posix() for path in bot_files(checkout, "shop")] == [
        "dataset/v2/train/shop_train.csv",
        "dataset/v2/test/shop_test.csv",
    ]
    assert read_bot(checkout, "shop") == {
        "train": [{"text": "where is it", "label": "STATUS"}, {"text": "cancel it, please", "label": "CANCEL"}],
        "test": [{"text": "still waiting", "label": "STATUS"}, {"text": "stop it", "label": "CANCEL"}],
        "ood": [{"text": "12345", "label": "NO_NODES_DETECTED"}],
    }


def test_other_files_are_refused(checkout):
    bot_files(checkout, "shop")[1].write_text("text,label\na,b\n")
    with pytest.raises(DataError, match=r"shop_test\.csv has no column 'sentence'"):
        read_bot(checkout, "shop")
