"""Numbers that README and manual quote are those of benchmarks/results.json.

A quoted number is followed by a comment that says which: `0.68<!-- ratio: WORK; METRIC; PEER -->`. It is the row's
`value`, the peer's (`peer`) or their `ratio`, rounded to the digits that are written; `share` is a value as a
percentage. The comment of a row without a peer ends after its metric.
"""

import json
import re
from decimal import Decimal
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
QUOTED = re.compile(r"([\d.,]*\d)((?: ?%)?)<!-- (value|peer|ratio|share): ([^;]+?); ([^;]+?)(?:; ([^;]+?))? -->")
FIELDS = {"value": "value", "share": "value", "peer": "peer_value", "ratio": "ratio"}


def rows():
    """The results by work, metric and peer."""
    entries = json.loads((ROOT / "benchmarks" / "results.json").read_text())
    return {(entry["work"], entry["metric"], entry["peer"]): entry for entry in entries}


def wrong(text, results):
    """The quoted numbers of a text that are not those of the results."""
    found = []
    for written, _, kind, work, metric, peer in QUOTED.findall(text):
        entry = results.get((work, metric, peer or None))
        if entry is None:
            found.append(f"no row {work}; {metric}; {peer}")
            continue
        said, measured = Decimal(written.replace(",", "")), Decimal(str(entry[FIELDS[kind]]))
        measured *= 100 if kind == "share" else 1
        # half a unit of the last digit, and a float that is written a little off
        if abs(said - measured) > Decimal("0.5001") * Decimal(1).scaleb(said.as_tuple().exponent):
            found.append(f"{written} is quoted of {work}; {metric}, which is {measured}")
    return found


QUOTING = [page for page in PAGES if QUOTED.search(page.read_text())]


@pytest.mark.parametrize("page", QUOTING, ids=lambda page: page.name)
def test_quoted_numbers_are_measured(page):
    assert not wrong(page.read_text(), rows())


def test_pages_quote_numbers():
    assert {"README.md", "compare.md"} <= {page.name for page in QUOTING}
    assert sum(len(QUOTED.findall(page.read_text())) for page in QUOTING) >= 30


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_comment_follows_a_number(page):
    text = page.read_text()
    assert len(re.findall(r"<!-- (?:value|peer|ratio|share): ", text)) == len(QUOTED.findall(text))


def test_a_number_that_was_measured_anew_is_noticed():
    results = rows()
    page = (ROOT / "docs" / "compare.md").read_text()
    results["curve, raw, N=1024, epsilon = 1, replace", "RMSE", "opendp"]["ratio"] *= 1.05
    (problem,) = wrong(page, results)
    assert problem.startswith("0.69 is quoted")
    del results["discrete_laplace noise, scale 32", "speed", "opendp"]
    assert len(wrong(page, results)) == 4
