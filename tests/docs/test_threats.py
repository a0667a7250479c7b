"""Every row of the threat model names a test that exists, or says in words why there is none."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "threats.md"
HEADING = "| who | what they can do | what stops them | test | not covered |"
NAMED = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")


def rows():
    lines = PAGE.read_text().splitlines()
    first = lines.index(HEADING) + 2
    table = lines[first : lines.index("", first)]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in table]


def functions(path):
    tree = ast.parse((ROOT / path).read_text())
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


@pytest.mark.parametrize("row", rows(), ids=lambda row: f"{row[0]}-{row[1]}"[:60])
def test_each_row_is_complete_and_names_tests_that_exist(row):
    assert len(row) == 5
    assert all(row), "an empty cell"
    named = NAMED.findall(row[3])
    assert named, "no test is named"
    for path, name in named:
        assert name in functions(path), f"{path} has no {name}"


def test_a_test_that_was_renamed_is_noticed():
    assert "test_that_nobody_wrote" not in functions("tests/docs/test_threats.py")
    assert "test_a_test_that_was_renamed_is_noticed" in functions("tests/docs/test_threats.py")


def test_what_is_not_covered_is_said():
    text = PAGE.read_text().split("## What is not covered")[1]
    for word in ("constant time", "Windows", "Swap", "root user"):
        assert word in text
