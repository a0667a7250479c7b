"""Whoever opens public data without asking for them by name finds none, here or anywhere."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from helpers.data import NOWHERE
from helpers.waiting import PATIENCE

from ogive.datasets import data_directory

TESTS = Path(__file__).parents[1]
FLOOR = 80

ATTEMPTS = """
import gzip, os
from pathlib import Path
import pytest
from ogive.datasets import data_directory

HERE = Path(os.environ["OGIVE_DATA"]) / "set.txt"

@pytest.fixture
def lines(shared_data):
    return shared_data("set.txt").read_text()

def test_asks_itself(shared_data):
    assert shared_data("set.txt").read_text() == "public"

def test_asks_through_a_fixture(lines):
    assert lines == "public"

def test_asks_for_what_is_lacking(shared_data):
    shared_data("other.txt")

def test_opens_what_the_package_finds():
    (data_directory() / "set.txt").read_text()

def test_opens_what_was_found_while_tests_were_collected():
    HERE.read_text()

def test_lets_another_process_look():
    import subprocess, sys
    program = "from ogive.datasets import data_directory; (data_directory() / 'set.txt').read_text()"
    subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)

def test_asks_too_late(request):
    request.getfixturevalue("shared_data")("set.txt")
"""


def outcomes(folder, *options, data):
    """Outcome of each attempt in a process of its own, where the package's data folder is as named, or none."""
    (folder / "test_attempts.py").write_text(ATTEMPTS)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS), *sys.path]), "OGIVE_DATA": str(data)}
    environment.pop("PYTEST_ADDOPTS", None)
    done = subprocess.run(
        [
            sys.executable, "-m", "pytest", "-rA", "-p", "helpers.data", "-p", "no:cacheprovider", "-p", "no:xdist",
            "-o", "markers=data", "--rootdir", str(folder), *options, str(folder),
        ],
        capture_output=True, text=True, cwd=folder, env=environment, timeout=PATIENCE, check=False,
    )  # fmt: skip
    found = re.findall(r"^(PASSED|FAILED|ERROR) \S*::test_(\w+)", done.stdout, re.MULTILINE)
    assert found, done.stdout + done.stderr
    skipped = re.search(r"(\d+) skipped", done.stdout)
    return {name: outcome for outcome, name in found}, int(skipped[1]) if skipped else 0


BLIND = {
    "opens_what_the_package_finds": "FAILED",
    "opens_what_was_found_while_tests_were_collected": "FAILED",
    "lets_another_process_look": "FAILED",
    "asks_too_late": "FAILED",
}
ASKING = {"asks_itself": "PASSED", "asks_through_a_fixture": "PASSED"}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "set.txt").write_text("public")
    (tmp_path / "tests").mkdir()
    return tmp_path


def test_only_tests_that_ask_find_data(folder):
    assert outcomes(folder / "tests", data=folder / "data") == (ASKING | BLIND, 1)


def test_the_mark_selects_the_tests_that_ask(folder):
    assert outcomes(folder / "tests", "-m", "data", data=folder / "data") == (ASKING, 1)


def test_without_data_tests_that_ask_are_skipped_and_others_fail_as_with_them(folder):
    (folder / "data" / "set.txt").unlink()
    assert outcomes(folder / "tests", data=folder / "data") == (BLIND, 3)


def test_this_test_sees_no_data():
    assert data_directory() == NOWHERE
    assert not list(NOWHERE.iterdir())


def test_tests_that_ask_for_data_are_as_many_as_they_were(request):
    marked = [item for item in request.session.items if item.get_closest_marker("data")]
    folders = (TESTS, TESTS.parent / "papers" / "tests")
    paths = [path for folder in folders for path in folder.rglob("test_*.py")]
    files = {path for path in paths if re.search(r"\bshared_data\b", path.read_text())}
    assert {item.path for item in marked} <= files
    if files <= {item.path for item in request.session.items}:
        assert len(marked) >= FLOOR
