"""The manual's examples run, its pages are all linked, and its commands exist."""

import importlib
import json
import logging
import re
import shlex
from functools import cache, partial
from pathlib import Path

import pytest
from cyclopts import CycloptsError
from helpers.engines import start_spark
from helpers.few_simulations import simulate_little
from helpers.schemas import published
from helpers.scope import is_everything

import ogive
from ogive import cli
from ogive.statistics.ecdf import plan

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
WRITTEN = sorted(page for page in DOCS.rglob("*.md") if "_build" not in page.parts)
PAGES = [ROOT / "README.md", *(page for page in WRITTEN if page.parent.name != "proofs")]
# a cell of a page that is a notebook is Python too, after its options
BLOCK = re.compile(r"^```(?:\{code-cell\} )?(\w+)\n(?::.*\n)*(.*?)^```$", re.MULTILINE | re.DOTALL)
CONTENTS = re.compile(r"^```\{toctree\}\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page, language):
    return [code for kind, code in BLOCK.findall(page.read_text()) if kind == language]


RUNNABLE = [page for page in PAGES if blocks(page, "python")]


LONG = {"choose.md", "planning.md", "tutorial_clinic.md"}
"""Pages whose examples take half a minute of many plans, or of one large table."""


@pytest.mark.parametrize(
    "page",
    [pytest.param(page, id=page.name, marks=pytest.mark.everything if page.name in LONG else ()) for page in RUNNABLE],
)
def test_examples_run(page, tmp_path, monkeypatch, request):
    if page.name == "engines.md":
        if not Path.home().is_dir():
            pytest.skip("Spark starts only where there is a home folder")
        start_spark()
    simulate_little(monkeypatch, but=("statistics.calibration.sums.TESTED",))  # a page says what p-value is found
    if not is_everything():  # means of functions over cells are of fewer points, and plans of fewer rehearsals
        monkeypatch.setattr("ogive.kernels.base._EVALUATIONS", 1 << 19)
        monkeypatch.setattr("ogive.kernels.base._SLOW_EVALUATIONS", 1 << 14)
        monkeypatch.setattr(plan, "_SHAPES", plan.Shapes(plan.EVERY.names[::4], runs=1))
    monkeypatch.chdir(tmp_path)
    logger = logging.getLogger("ogive")
    request.addfinalizer(partial(logger.setLevel, logger.level))  # a page may set it, for itself alone
    scope: dict = {}
    for code in blocks(page, "python"):
        exec(compile(code, str(page), "exec"), scope)
    assert "ogive" in scope


def test_pages_with_examples_were_found():
    assert {"README.md", "getting_started.md", "methods.md", "streams.md"} <= {page.name for page in RUNNABLE}


def test_the_benchmark_tables_are_those_of_the_results(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    publish = importlib.import_module("publish")
    rows = json.loads((ROOT / "benchmarks" / "results.json").read_text())
    page = publish.PAGE.read_text()
    assert publish.filled(page, rows) == page, "run python benchmarks/publish.py"
    rows[0]["value"] *= 2
    assert publish.filled(page, rows) != page


def test_every_page_is_in_one_table_of_contents():
    listed = [
        (page.parent / line).resolve().relative_to(DOCS).as_posix()
        for page in WRITTEN
        for contents in CONTENTS.findall(page.read_text())
        for line in contents.splitlines()
        if line and not line.startswith(":")
    ]
    names = {page.relative_to(DOCS).with_suffix("").as_posix() for page in WRITTEN}
    assert sorted(listed) == sorted(names - {"index"})


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_tables_are_whole(page):
    lines = ["", *page.read_text().splitlines(), ""]
    tables = [i for i, line in enumerate(lines) if line.startswith("|") and not lines[i - 1].startswith("|")]
    for first in tables:
        assert lines[first - 1] == "", f"a table needs an empty line above {lines[first]!r}"
        assert re.fullmatch(r"\|( *:?-+:? *\|)+", lines[first + 1]), (
            f"rows cut off from their heading: {lines[first]!r}"
        )


def accidental_lists(text):
    """Lines of prose that Markdown takes for the first point of a list, such as a sentence that goes on with "1."."""
    prose = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    return re.findall(r"^(?![ #>|:]|[-+*] |\d+[.)] ).*\w\n((?:1[.)]|[-+*]) .*)$", prose, flags=re.MULTILINE)


@pytest.mark.parametrize("page", WRITTEN, ids=lambda page: f"{page.parent.name}/{page.name}")
def test_no_sentence_goes_on_as_a_list(page):
    assert accidental_lists(page.read_text()) == []


def test_a_sentence_that_goes_on_as_a_list_is_found():
    assert accidental_lists("It lies between 0 and\n1. So it does.\n") == ["1. So it does."]
    assert accidental_lists("Points:\n\n- one\n- two\n\nbetween 0 and\n1 it lies\n") == []


def test_every_public_name_is_mentioned():
    text = "\n".join(page.read_text() for page in PAGES)
    missing = [name for name in ogive.__all__ if not re.search(rf"\b{name}\b", text)]
    assert not missing


def test_every_published_schema_is_in_the_page_on_formats():
    page = (ROOT / "docs" / "formats.md").read_text()
    schemas = published()
    assert len(schemas) >= 17
    for name, schema in schemas.items():
        assert f"`{name}`" in page, name
        if "schema" in schema["properties"]:
            named = schema["properties"]["schema"]["const"]
            assert re.search(rf"^\| `{named}` \| `{name}` \|", page, re.MULTILINE), named


def test_commands_in_the_manual_are_commands_with_all_their_options():
    lines = [
        line.removeprefix("$ ").split("#")[0]
        for page in PAGES
        for code in blocks(page, "console")
        for line in code.splitlines()
        if line.startswith("$ ogive")
    ]
    assert len(lines) >= 80
    for line in lines:
        parsed(line)
    for wrong in (
        "ogive ecdff DATA",
        "ogive local describe ecdf --column x --epsilon 1 --participants 9 --degree 3",
        "ogive quantiles DATA --column x --violins",
    ):
        with pytest.raises(CycloptsError, match=r"ecdff|Unknown option"):
            parsed(wrong)


def parsed(line):
    """Read a command and all its options without running it."""
    words = shlex.split(line)[1:]
    if ">" in words:
        words = words[: words.index(">")]
    program().parse_args(words, exit_on_error=False, print_error=False)


@cache
def program():
    """All commands, read once."""
    return cli.build()


def test_files_named_in_the_readme_exist():
    text = (ROOT / "README.md").read_text()
    for name in re.findall(r"`(docs/[\w./]+)`", text):
        assert (ROOT / name).exists(), name


def test_pages_for_newcomers_give_the_same_minutes_for_the_tests_and_keep_within_the_limit():
    said = r"`make test`[^;`]*?about\s+(\d+)\s+minutes\s+on\s+two\s+idle\s+processors"
    minutes = {name: re.findall(said, (ROOT / name).read_text()) for name in ("README.md", "CONTRIBUTING.md")}
    (limit,) = re.findall(
        r"`make test` shall take (\d+) minutes on two idle processors", (ROOT / "tests/README.md").read_text()
    )
    assert minutes["README.md"] == minutes["CONTRIBUTING.md"]
    assert len(minutes["README.md"]) == 1
    assert int(minutes["README.md"][0]) <= int(limit)
