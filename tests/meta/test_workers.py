"""Workers that import test modules before they collect them tell of a broken one, as one that does not."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from helpers.waiting import PATIENCE

TESTS = Path(__file__).parents[1]


@pytest.mark.parametrize("early", ["", 'pytest_plugins = ["helpers.workers"]\n'], ids=["control", "early"])
@pytest.mark.parametrize(
    ("broken", "told"),
    [
        ("raise RuntimeError('it is broken')", "it is broken"),
        ("import pytest\npytest.importorskip('nothing')", "1 skipped"),
    ],
    ids=["error", "skip"],
)
def test_a_module_that_cannot_be_imported_is_told(tmp_path, early, broken, told):
    (tmp_path / "conftest.py").write_text(early)
    (tmp_path / "pytest.ini").write_text("[pytest]\ntestpaths = tests\naddopts = --import-mode=importlib\n")
    (tmp_path / "tests").mkdir()
    noted = "with open('imports', 'a') as file:\n    file.write('x')\n"
    (tmp_path / "tests" / "test_broken.py").write_text(f"{noted}\n\ndef test_one():\n    pass\n\n\n{broken}\n")
    (tmp_path / "tests" / "test_whole.py").write_text("def test_two():\n    assert 1 + 1 == 2\n")
    # only named plugins: the controller imports each, and so does the worker
    environment = {**os.environ, "PYTHONPATH": str(TESTS), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    for name in ("PYTEST_XDIST_WORKER", "PYTEST_ADDOPTS"):
        environment.pop(name, None)
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "xdist", "-n", "1", "-rs"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=PATIENCE)
    assert told in done.stdout, done.stdout
    assert (done.returncode == 0) is (told == "1 skipped")
    assert (tmp_path / "imports").read_text() == ("xx" if early else "x")
