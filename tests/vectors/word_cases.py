"""Sentences that people are told, beside those of stored documents: what each case says is kept in `stored/words.txt`.

Tests of what a sentence is about keep its numbers and names; the whole of it stands in that file alone.
"""

import tempfile
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import ogive
from ogive.cli import main as command
from ogive.privacy import Adjacency, PrivacyUnit, PureDP
from ogive.trust import Central, Local

ROWS = "age,sex\n" + "".join(f"{20 + row % 2},{'FM '[row % 3].strip()}\n" for row in range(600))
CROSSTAB = "crosstab t.csv --row sex --rows F M --column age --columns 20 21 --other count --epsilon 1"


def unit(adjacency=Adjacency.REPLACE, **more):
    return PrivacyUnit(adjacency, **more).words


def refused(line):
    """What the command says of a table with gaps."""
    out, err = StringIO(), StringIO()
    with tempfile.TemporaryDirectory() as folder, redirect_stdout(out), redirect_stderr(err):
        table = Path(folder) / "t.csv"
        table.write_text(ROWS, encoding="utf-8")
        command([str(table) if word == "t.csv" else word for word in line.split()])
    return err.getvalue().replace(f"{folder}/", "").strip()


def left_out(*trust):
    """What a plan says of the methods that do not apply."""
    tau = ogive.Ustatistic(("a", "b"), "kendall", categories=(1, 2, 3, 4))
    plan = ogive.plan(tau, records=3000, privacy=[PureDP(1), PureDP(4)], trust=list(trust))
    return next(part for part in str(plan).split("\n\n") if "does not apply" in part).strip("\n")


CASES = {
    "unit of records": unit,
    "unit of records with a public column": lambda: unit(public=("ill",)),
    "unit of records with two public columns": lambda: unit(public=("region", "ill")),
    "unit of persons with a public column": lambda: unit(person="who", public=("ill",)),
    "unit of persons with two rows": lambda: unit(Adjacency.ADD_OR_REMOVE, person="who", max_rows_per_person=2),
    "refusal of gaps in a cross table": lambda: refused(CROSSTAB),
    "plan of two trust models": lambda: left_out(Central, Local),
    "plan of one trust model": lambda: left_out(Local),
}
"""Name of a case -> what gives its words."""
