"""The list of what the papers hold: complete, with names that exist, and with the verdicts of the page."""

import importlib
import re
import sys
from pathlib import Path

import pytest

from ogive_papers.papers import PAPERS

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import paper_lists as tool  # noqa: E402

ALL = [pytest.param(paper, id=paper["key"]) for paper in tool.papers()]

NUMBERED = {
    "ecdf": {"Theorem": 3, "Lemma": 1, "Algorithm": 2, "Figure": 10, "Table": 1},
    "projection": {"Theorem": 3, "Remark": 1, "Baseline": 2, "Figure": 4, "Figure D": 4},
    "ustatistics": {
        "Theorem": 5, "Lemma": 6, "Corollary": 5, "Algorithm": 3, "Remark": 6, "Figure": 7, "Table": 1,
    },
    "pate": {"Theorem": 7, "Corollary": 1, "Claim": 2, "Algorithm": 5, "Figure": 5, "Table": 2},
}  # fmt: skip
"""How many of each kind the papers have; PATE numbers theorems and corollaries together. Baselines have no numbers in
the paper: they are those that it names and does not compare, in its order."""

BESIDE = {"ustatistics": {"Equation 8"}}
"""What else is listed: a problem that the paper states and does not solve."""


def exists(where):
    """Whether a place names a file of the repository, a module, or a name in one."""
    if "/" in where:
        return (ROOT / where).is_file()
    module, _, name = where.partition(":")
    try:
        found = importlib.import_module(module)
    except ModuleNotFoundError:
        return False
    return not name or hasattr(found, name)


def test_a_name_that_is_gone_is_found_out():
    assert exists("ogive.strategies:design_path")
    assert exists("docs/papers.toml")
    assert exists("ogive.pate.costs.cost")
    assert not exists("ogive.strategies:design_paths")
    assert not exists("ogive.strategies.paths:design_path")
    assert not exists("docs/proofs/paths.md")


def test_every_paper_that_is_redone_is_listed():
    assert [paper["key"] for paper in tool.papers()] == ["ecdf", "projection", "ustatistics", "pate"]
    assert set(PAPERS) == set(NUMBERED) == {paper["key"] for paper in tool.papers()}


@pytest.mark.parametrize("paper", ALL)
def test_every_item_is_listed_once(paper):
    names = [item["name"] for item in paper["items"]]
    assert len(set(names)) == len(names)
    expected = set()
    for kind, count in NUMBERED[paper["key"]].items():
        space = "" if kind.endswith("D") else " "
        expected |= {f"{kind}{space}{number}" for number in range(1, count + 1)}
    expected |= BESIDE.get(paper["key"], set())
    if paper["key"] == "pate":
        expected = (expected - {"Theorem 4", "Corollary 1"}) | {"Corollary 4"}
    assert set(names) == expected


@pytest.mark.parametrize("paper", ALL)
def test_names_of_code_exist_and_verdicts_are_of_the_known_words(paper):
    for item in paper["items"]:
        assert set(item) <= {"name", "says", "verdict", "note", "where"}, item["name"]
        assert item["says"], item["name"]
        drawn = item["name"].startswith(("Figure", "Table"))
        assert item["verdict"] in (tool.REDONE + tool.NOT_REDONE if drawn else tool.STATED), item["name"]
        if not drawn:
            assert item["where"], f"say where {item['name']} is"
        if item["verdict"] in ("corrected", "false", "not built", "not redone"):
            assert item["note"], f"say what is the matter with {item['name']}"
        missing = [where for where in item.get("where", ()) if not exists(where)]
        assert not missing, f"{item['name']} of {paper['key']} names what does not exist: {missing}"


@pytest.mark.parametrize("paper", ALL)
def test_what_is_redone_is_what_the_command_redoes(paper):
    items = importlib.import_module(PAPERS[paper["key"]]).ITEMS
    redone = {item["name"] for item in paper["items"] if tool.command(paper["key"], item)}
    assert redone == {f"{item.kind.capitalize()} {item.number}" for item in items}


def verdicts_of_page():
    """Verdicts by section and item from the tables that the page has beside the lists."""
    text = tool.PAGE.read_text(encoding="utf-8").partition(tool.START)[0]
    found = {}
    for line in text.splitlines():
        if line.startswith("## "):
            section = line
        cells = [cell.strip(" *") for cell in line.strip("|").split("|")]
        if len(cells) > 2 and (name := re.match(r"(Figure|Table) [D\d]+", cells[0])):
            words = [cell for cell in cells[1:3] if re.match(r"(not )?reproduced|inconclusive", cell)]
            if words:
                found[section, name[0]] = re.sub(r" \(\d+ runs\)", "", words[0])
    return found


def test_verdicts_are_those_that_the_page_gives_at_length():
    found = verdicts_of_page()
    sections = {"ecdf": "## Verdicts", "ustatistics": "## The paper on pairwise statistics"}
    sections["pate"] = "## The paper on teachers' votes"
    compared = 0
    for paper in tool.papers():
        for item in paper["items"]:
            if paper["key"] in sections and tool.command(paper["key"], item):
                assert found[sections[paper["key"]], item["name"]] == item["verdict"], (paper["key"], item["name"])
                compared += 1
    assert compared == 22


def test_the_page_is_what_the_command_writes():
    page = tool.PAGE.read_text(encoding="utf-8")
    assert tool.written(page) == page, "write the lists anew: make papers"
    assert tool.written(page.replace("| Theorem 1 |", "| Theorem 0 |")) == page
    with pytest.raises(ValueError, match="needs the lines"):
        tool.written("no marks")
