"""Who may resume an unfinished run, and what is left behind when."""

from __future__ import annotations

import subprocess
import sys

import pytest
from filelock import FileLock

from masker import Documents, Model
from masker.errors import ConfigError, DataError
from masker.training.work_folder import remove_work_folder, work_folder
from tests.conftest import make_corpus

OTHER = r"holds an unfinished run with other data or settings; repeat that command to finish it, pass --restart"


@pytest.fixture
def documents() -> Documents:
    return Documents(["moon", "soup", "goal"], None, ["a", "b", "a"], "made up")


class Killed(BaseException):
    """Stands for a signal: nothing is tidied up by our own rules."""


def train_until(work, documents, settings, end: BaseException, *, trained: bool = True) -> None:
    """Start a stage, and end it."""
    with work_folder(work, documents, settings):
        (work / "vanilla").mkdir(exist_ok=True)
        if trained:
            (work / "vanilla" / "checkpoint").write_text("half a model")
        raise end


def leave_unfinished(work, documents, settings) -> None:
    with pytest.raises(Killed):
        train_until(work, documents, settings, Killed())


def test_a_new_folder_is_made_and_marked(documents, tiny_settings, tmp_path):
    work = tmp_path / "deep" / "model.partial"
    with work_folder(work, documents, tiny_settings()):
        assert [path.name for path in work.iterdir()] == ["run.sha256"]
        assert (work.parent / ".model.partial.lock").exists()
    assert [path.name for path in work.parent.iterdir()] == ["model.partial"], "kept for the caller, the lock is not"


def test_the_same_run_resumes(documents, tiny_settings, tmp_path, caplog):
    work = tmp_path / "work"
    leave_unfinished(work, documents, tiny_settings())
    with caplog.at_level("INFO", "masker"), work_folder(work, documents, tiny_settings()):
        assert (work / "vanilla" / "checkpoint").read_text() == "half a model"
    assert f"resuming the unfinished run in {work}" in caplog.text


@pytest.mark.parametrize("what", ["settings", "labels", "texts", "mark"])
def test_another_run_does_not(documents, tiny_settings, tmp_path, what):
    work = tmp_path / "work"
    leave_unfinished(work, documents, tiny_settings())
    settings = tiny_settings(training={"seed": 1}) if what == "settings" else tiny_settings()
    if what == "labels":
        documents = Documents(documents.texts, None, ["a", "b", "b"], "made up")
    if what == "texts":
        documents = Documents(["moon", "soup", "goals"], None, documents.labels, "made up")
    if what == "mark":
        (work / "run.sha256").unlink()  # not a folder of ours, as far as anyone can tell
    with pytest.raises(ConfigError, match=OTHER), work_folder(work, documents, settings):
        pytest.fail("entered")
    assert (work / "vanilla" / "checkpoint").exists(), "refused, and not removed"
    assert not (tmp_path / ".work.lock").exists()


def test_a_run_of_others_that_has_not_trained_yet_stays_too(documents, tiny_settings, tmp_path):
    """It has chosen its keywords, which may have taken a vanilla stage elsewhere."""
    work = tmp_path / "work"
    with work_folder(work, documents, tiny_settings()):
        (work / "keywords.json").write_text("{}")
    with pytest.raises(ConfigError, match=OTHER), work_folder(work, documents, tiny_settings(training={"seed": 1})):
        pytest.fail("entered")
    assert (work / "keywords.json").exists()


def test_restart_discards_another_run(documents, tiny_settings, tmp_path):
    work = tmp_path / "work"
    leave_unfinished(work, documents, tiny_settings())
    with work_folder(work, documents, tiny_settings(training={"seed": 1}), restart=True):
        assert [path.name for path in work.iterdir()] == ["run.sha256"]
    leave_unfinished(work, documents, tiny_settings(training={"seed": 1}))  # now it belongs to the new settings


def test_killed_before_the_mark_is_nothing_lost(documents, tiny_settings, tmp_path):
    work = tmp_path / "work"
    (work / "vanilla").mkdir(parents=True)
    (work / "run.sha256.tmp").write_text("half a")
    with work_folder(work, documents, tiny_settings()):
        assert [path.name for path in work.iterdir()] == ["run.sha256"]


@pytest.mark.parametrize("trained", [False, True])
def test_refused_before_training_nothing_is_left(documents, tiny_settings, tmp_path, trained):
    work = tmp_path / "work"
    with pytest.raises(DataError, match="no good"):
        train_until(work, documents, tiny_settings(), DataError("no good"), trained=trained)
    assert work.exists() is trained
    assert not (tmp_path / ".work.lock").exists()


def test_two_at_once(documents, tiny_settings, tmp_path):
    work = tmp_path / "work"
    with work_folder(work, documents, tiny_settings()):
        for restart in (False, True):
            with (
                pytest.raises(ConfigError, match="another process is training in"),
                work_folder(work, documents, tiny_settings(), restart=restart),
            ):
                pytest.fail("entered")
        assert (work / "run.sha256").exists(), "the refused one has not tidied up after the other"
        remove_work_folder(work)
        assert work.exists(), "not while somebody trains in it"
    remove_work_folder(work)
    assert list(tmp_path.iterdir()) == []


def test_another_process_holds_it(documents, tiny_settings, tmp_path):
    code = (
        "import sys; from filelock import FileLock; lock = FileLock(sys.argv[1]); lock.acquire(); "
        "print('held', flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", code, str(tmp_path / ".work.lock")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout.readline() == "held\n"
        with (
            pytest.raises(ConfigError, match=r"another process is training in '.*work'; wait for it"),
            work_folder(tmp_path / "work", documents, tiny_settings()),
        ):
            pytest.fail("entered")
        assert not (tmp_path / "work").exists()
        other.kill()
    with work_folder(tmp_path / "work", documents, tiny_settings()):
        pass  # a lock dies with its process


# --- through Model.fit, which every caller uses ----------------------------------------------------------------------


@pytest.fixture
def corpus_documents() -> Documents:
    texts, labels = make_corpus(30)
    return Documents(texts, None, labels, "made up")


def fast(tiny_settings, **training):
    return tiny_settings(training={"method": "vanilla", "epochs": 1, **training}, detection={"score": "max-prob"})


def test_fit_refuses_the_work_of_another_run_and_restarts(corpus_documents, tiny_settings, tmp_path):
    work = tmp_path / "model.partial"
    model = Model.fit(corpus_documents, fast(tiny_settings), work)
    result = work / "fold-1" / "vanilla" / "result.safetensors"
    before = result.stat().st_mtime_ns
    again = Model.fit(corpus_documents, fast(tiny_settings), work)
    assert result.stat().st_mtime_ns == before, "the finished stage was read back"
    assert again.predict(["rocket"]) == model.predict(["rocket"])
    fewer = corpus_documents.take(range(24))
    for documents, settings in ((fewer, fast(tiny_settings)), (corpus_documents, fast(tiny_settings, seed=3))):
        with pytest.raises(ConfigError, match=OTHER):
            Model.fit(documents, settings, work)
    assert result.stat().st_mtime_ns == before
    Model.fit(corpus_documents, fast(tiny_settings, seed=3), work, restart=True)
    assert result.stat().st_mtime_ns != before


def test_fit_waits_for_nobody(corpus_documents, tiny_settings, tmp_path):
    with FileLock(tmp_path / ".work.lock"), pytest.raises(ConfigError, match="another process is training"):
        Model.fit(corpus_documents, fast(tiny_settings), tmp_path / "work")
    assert not (tmp_path / "work").exists()


def test_fit_leaves_nothing_behind_when_it_refuses(corpus_documents, tiny_settings, tmp_path):
    with pytest.raises(ConfigError, match="report_to"):
        Model.fit(corpus_documents, fast(tiny_settings, report_to=["no-such-board"]), tmp_path / "board")
    once = Documents(["moon", "soup", "goal"], None, ["a", "b", "c"], "each class once")
    with pytest.raises(DataError, match="at least two"):
        Model.fit(once, fast(tiny_settings), tmp_path / "once")
    with pytest.raises(ConfigError, match="device must be"):
        Model.fit(corpus_documents, fast(tiny_settings), tmp_path / "device", device="gpu")
    assert list(tmp_path.iterdir()) == []
