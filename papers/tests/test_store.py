"""Finished tasks survive whatever happens to the process."""

import json
import os
import stat

import pytest

from ogive.errors import DataError, ParameterError
from ogive_papers.store import ResultStore


def test_numbers_are_known_after_reopening(tmp_path):
    path = tmp_path / "runs.jsonl"
    store = ResultStore(path)
    store.add("a", {"item": "figure-1"}, {"x": 1.5})
    assert store.get("a") == {"x": 1.5}
    store.close()
    again = ResultStore(path)
    assert again.get("a") == {"x": 1.5}
    assert again.get("b") is None
    again.close()
    assert json.loads(path.read_text())["item"] == "figure-1"


@pytest.mark.parametrize("left", [1, 2, 10, 30, 50])
def test_a_torn_last_line_is_skipped_and_does_not_spoil_the_next(tmp_path, left):
    path = tmp_path / "runs.jsonl"
    store = ResultStore(path)
    store.add("a", {"item": "figure-1"}, {"x": 1.5})
    store.add("b", {"item": "figure-1"}, {"x": 2.5})
    store.close()
    whole = path.read_bytes()
    path.write_bytes(whole[:-left])
    torn = ResultStore(path)
    # losing the line feed alone loses no number
    assert torn.get("b") == ({"x": 2.5} if left == 1 else None)
    assert torn.torn == (left != 1)
    torn.add("c", {}, {"x": 3.5})
    torn.close()
    again = ResultStore(path)
    assert again.get("c") == {"x": 3.5}
    again.close()


def test_lines_of_another_kind_are_skipped(tmp_path):
    path = tmp_path / "runs.jsonl"
    path.write_text('[]\n{"key": "a"}\n{"key": "b", "numbers": {"x": "?"}}\n{"key": "c", "numbers": {"x": 1}}\n\xff\n')
    store = ResultStore(path)
    assert (store.get("a"), store.get("b"), store.get("c"), store.torn) == (None, None, {"x": 1.0}, 4)
    store.close()


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_numbers_that_are_not_finite_are_refused(tmp_path, value):
    store = ResultStore(tmp_path / "runs.jsonl")
    with pytest.raises(DataError, match=r"x is (nan|inf)"):
        store.add("a", {"item": "figure-1"}, {"x": value})
    assert store.get("a") is None
    store.close()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_to_is_one_clear_line(tmp_path):
    tmp_path.chmod(stat.S_IRUSR | stat.S_IXUSR)
    with pytest.raises(ParameterError, match=r"cannot keep results in .*permission denied"):
        ResultStore(tmp_path / "runs.jsonl")


def test_a_store_that_is_a_folder_is_refused(tmp_path):
    with pytest.raises(ParameterError, match=r"cannot keep results in .*is a directory"):
        ResultStore(tmp_path)
