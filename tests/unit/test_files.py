import pytest

from ogive import files
from ogive.errors import ParameterError


def test_replaces_a_file_whole(tmp_path):
    path = tmp_path / "a.json"
    files.write_atomically(path, b"old")
    files.write_atomically(path, b"new")
    assert path.read_bytes() == b"new"
    assert [item.name for item in tmp_path.iterdir()] == ["a.json"]


def test_a_failure_in_the_middle_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "a.json"
    files.write_atomically(path, b"old")

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, "fsync", full)
    with pytest.raises(ParameterError, match="No space left"):
        files.write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert [item.name for item in tmp_path.iterdir()] == ["a.json"]


def test_an_interrupt_leaves_nothing_behind(tmp_path, monkeypatch):
    def interrupt(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(files.os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        files.write_atomically(tmp_path / "a.json", b"new")
    assert list(tmp_path.iterdir()) == []


def test_secrets_are_readable_by_their_owner_only(tmp_path):
    path = tmp_path / "state"
    files.write_atomically(path, b"key", mode=0o600)
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("name", ["missing/a.json", "."])
def test_refuses_a_place_that_cannot_be_written(tmp_path, name):
    with pytest.raises(ParameterError, match="cannot write"):
        files.write_atomically(tmp_path / name, b"")
