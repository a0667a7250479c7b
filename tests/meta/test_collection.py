"""Tests that are no longer collected do not go unnoticed."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
FLOOR = 9_000


def test_the_number_of_tests_does_not_fall(request):
    if len(request.session.items) >= FLOOR:  # this session has collected them
        return
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:xdist", str(ROOT / "tests")],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=300,
        check=False,
    )
    found = re.search(r"^(\d+) tests collected", done.stdout, re.MULTILINE)
    assert found, done.stdout[-2000:] + done.stderr[-2000:]
    assert int(found[1]) >= FLOOR


def test_every_folder_of_tests_is_described():
    text = (ROOT / "tests" / "README.md").read_text()
    folders = {path.name for path in (ROOT / "tests").iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert folders == set(re.findall(r"^\| `(\w+)/`", text, re.MULTILINE))
