"""Tests that are no longer collected do not go unnoticed."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("tests", "papers/tests")
FLOOR = 17_000
FUNCTIONS = 5_800


def functions_below(*folders):
    """How many test functions the files have that pytest collects."""
    texts = (path.read_text(encoding="utf-8") for folder in folders for path in folder.rglob("test_*.py"))
    return sum(len(re.findall(r"^ *(?:async )?def test_\w+\(", text, re.MULTILINE)) for text in texts)


def is_whole(config):
    """Whether the session was to run all tests, but for those that `make test` leaves out."""
    folders = [Path(config.invocation_params.dir, name).resolve() for name in config.args]
    narrowed = any(config.getoption(name, None) for name in ("keyword", "markexpr", "unfinished", "deselect", "lf"))
    return folders == [ROOT / name for name in FOLDERS] and not narrowed


def test_the_number_of_test_functions_does_not_fall():
    assert functions_below(*(ROOT / name for name in FOLDERS)) >= FUNCTIONS


def test_a_session_without_words_is_whole(request):
    assert tuple(request.config.getini("testpaths")) == FOLDERS


def test_functions_are_counted_where_pytest_finds_them(tmp_path):
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "test_a.py").write_text(
        "def test_a(): ...\nclass TestB:\n    async def test_b(self): ...\ndef other(): ...\n# def test_c(): ...\n"
    )
    (tmp_path / "helpers.py").write_text("def test_d(): ...\n")
    assert functions_below(tmp_path) == 2


def test_the_number_of_tests_does_not_fall(request):
    """A file that is skipped as a whole and a list of cases that is empty leave the functions as they were."""
    if not is_whole(request.config):
        pytest.skip("a part of the tests was to run")
    assert len(request.session.items) >= FLOOR


def test_every_folder_of_tests_is_described():
    text = (ROOT / "tests" / "README.md").read_text()
    folders = {path.name for path in (ROOT / "tests").iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert folders == set(re.findall(r"^\| `(\w+)/`", text, re.MULTILINE))
