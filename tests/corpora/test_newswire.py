"""Reuters-21578 from made-up files of its form."""

from __future__ import annotations

import tarfile

import pytest

from masker import DataError
from masker.corpora.newswire import read_newswire, story_files
from masker.corpora.published_forms import doubts, published_sha256, read_published


def story(split, topics, title="", body="", *, has_topics="YES", kind=""):
    entries = "".join(f"<D>{topic}</D>" for topic in topics)
    inner = f"<TITLE>{title}</TITLE>\n<DATELINE>    ROME, March 1 - </DATELINE>" if title else ""
    inner += f"<BODY>{body}\n Reuter\n&#3;</BODY>" if body else ""
    return (
        f'<REUTERS TOPICS="{has_topics}" LEWISSPLIT="{split}" CGISPLIT="X" NEWID="1">\n<DATE>1-MAR-1987</DATE>\n'
        f"<TOPICS>{entries}</TOPICS>\n<TEXT{kind}>&#2;\n{inner or title or 'PLAIN TEXT &lt;X>'}</TEXT>\n</REUTERS>\n"
    )


#: grain is the most frequent topic of training; tea is in training only, so its story has no topic left.
FIRST = "".join(
    [
        '<!DOCTYPE lewis SYSTEM "lewis.dtd">\n',
        story("TRAIN", ["wheat", "grain"], "WHEAT &amp; MORE", "Prices rose\n    again."),
        story("TRAIN", ["grain"], "GRAIN"),
        story("TRAIN", ["tea"], "TEA", "Tea fell."),
        story("TRAIN", ["grain"], "NO", "not assigned", has_topics="NO"),
        story("NOT-USED", ["grain"], "NO", "not used"),
    ]
)
SECOND = story("TEST", ["wheat", "gold"], "GOLD", "Mines.") + story("TEST", ["grain"], kind=' TYPE="UNPROC"')

TRAIN = [
    {"text": "WHEAT & MORE\nPrices rose\n    again.", "label": "grain", "labels": ["wheat", "grain"]},
    {"text": "GRAIN", "label": "grain", "labels": ["grain"]},
]
TEST = [
    {"text": "GOLD\nMines.", "label": "wheat", "labels": ["wheat"]},
    {"text": "PLAIN TEXT <X>", "label": "grain", "labels": ["grain"]},
]


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "reuters21578"
    place.mkdir()
    (place / "reut2-000.sgm").write_bytes(FIRST.encode("latin-1"))
    (place / "reut2-001.sgm").write_bytes(SECOND.encode("latin-1"))
    (place / "README.txt").write_text("not a story")
    return place


def test_stories_with_a_topic_of_both_splits(folder):
    assert [path.name for path in story_files(folder)] == ["reut2-000.sgm", "reut2-001.sgm"]
    assert read_newswire(folder) == {"train": TRAIN, "test": TEST}


def test_the_archive_gives_the_same(folder, tmp_path):
    archive = tmp_path / "reuters21578.tar.gz"
    with tarfile.open(archive, "w:gz") as packed:
        for path in folder.iterdir():
            packed.add(path, path.name)
    parts = read_published("reuters", archive)
    assert parts == {"train": TRAIN, "test": TEST}
    assert "2 (train) and 2 (test) documents, where 7,770 and 3,019 are known" in doubts("reuters", archive, parts)[0]
    assert published_sha256("reuters", folder) != published_sha256("reuters", archive)


def test_other_files_are_refused(tmp_path):
    with pytest.raises(DataError, match=r"needs the files reut2-000\.sgm to reut2-021\.sgm"):
        read_newswire(tmp_path)
