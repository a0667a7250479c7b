"""Every dependency names its lowest version, and the installed ones are not below."""

import importlib.metadata
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def floors():
    done = subprocess.run([sys.executable, ROOT / ".ci" / "floors"], capture_output=True, text=True, check=True)
    return dict(line.split("==") for line in done.stdout.splitlines())


def numbers(version):
    return [int(part) for part in version.split("+")[0].split(".")[:2] if part.isdigit()]


def test_every_dependency_has_one_lowest_version_and_it_is_met():
    found = floors()
    assert {"numpy", "pynacl", "duckdb", "pandas", "torch"} <= found.keys()
    for name, floor in found.items():
        try:
            installed = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
        assert numbers(installed) >= numbers(floor), name


def test_a_dependency_without_a_lowest_version_is_refused(tmp_path):
    (tmp_path / ".ci").mkdir()
    script = tmp_path / ".ci" / "floors"
    script.write_bytes((ROOT / ".ci" / "floors").read_bytes())
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    for floor, without in (('"numpy>=2.0"', '"numpy"'), ('"duckdb>=1.5,<2"', '"duckdb<2"')):
        assert floor in text
        (tmp_path / "pyproject.toml").write_text(text.replace(floor, without), encoding="utf-8")
        done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
        assert done.returncode == 1
        assert f"names no lowest version: {without[1:-1]}" in done.stderr
