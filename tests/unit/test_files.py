import os
import stat
from concurrent.futures import ThreadPoolExecutor

import pytest

from ogive.core import files
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


def test_all_of_it_is_on_its_way_to_the_disk_before_the_old_file_goes(tmp_path, monkeypatch):
    synchronized = []
    monkeypatch.setattr(files.os, "fsync", lambda handle: synchronized.append(os.fstat(handle).st_size))
    files.write_atomically(tmp_path / "a.json", b"new")
    assert synchronized == [3]


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


def test_follows_a_link_and_leaves_it_a_link(tmp_path):
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_bytes(b"old")
    link.symlink_to(target)
    files.write_atomically(link, b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"


def test_writes_to_a_pipe_as_it_is(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    files.write_atomically(pipe, b"new")
    assert os.read(reader, 10) == b"new"
    os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_of_many_writers_that_must_not_replace_one_wins(tmp_path):
    def attempt(number):
        try:
            files.write_atomically(tmp_path / "state", bytes([number]), replace=False)
        except ParameterError:
            return None
        return number

    with ThreadPoolExecutor(8) as pool:
        won = [number for number in pool.map(attempt, range(40)) if number is not None]
    assert len(won) == 1
    assert (tmp_path / "state").read_bytes() == bytes(won)
    assert [item.name for item in tmp_path.iterdir()] == ["state"]


def test_a_probe_that_another_run_removes_is_no_error(tmp_path, monkeypatch):
    made = files.tempfile.mkstemp
    removed = []

    def taken_away(*args, **kwargs):
        handle, name = made(*args, **kwargs)
        files.remove_leftovers(tmp_path / "state")
        removed.append(not files.Path(name).exists())
        return handle, name

    monkeypatch.setattr(files.tempfile, "mkstemp", taken_away)
    files.check_writable(tmp_path / "state")
    assert removed == [True]
