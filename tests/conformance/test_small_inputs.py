"""Small files as people have them give one answer or one refusal, on the command line and in Python, in every form.

Each is a situation from public bug reports of other tools: cells padded with blanks, declared missing codes,
identifiers with blanks, truth values as words, points and commas between thousands, persons without an identifier.
"""

import io
import json
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import polars as pl
import pyarrow.csv
import pyarrow.parquet
import pytest
from helpers.engines import address

import ogive
from ogive import Adjacency, PureDP
from ogive.cli import main
from ogive.errors import OgiveError
from ogive.statistics import Count, Crosstab, Describe, Histogram, Mean, Proportion, Subset
from ogive.statistics.describe.estimate import DescribeEstimate
from ogive.statistics.kinds import read_estimate

ROWS = range(120)
FILES = {
    "padded": ("sex,died,age", [f"{'FM'[n % 2]}  ,{'YN'[n // 2 % 2]}   ,{20 + n % 60}" for n in ROWS]),
    "codes": ("s,v", [f"{(1, 0, -9)[n % 3]},1.0" for n in ROWS]),
    "persons": ("id,v", [f"{(f'P{n // 3}', f'P{n // 3} ', f' P{n // 3}')[n % 3]},{float(n)}" for n in ROWS]),
    "truths": ("flag,p", [f"{('TRUE', 'TRUE', 'FALSE')[n % 3]},{n / 120:.3f}" for n in ROWS]),
    "two truths": ("flag,seen", [f"{('TRUE', 'TRUE', 'FALSE')[n % 3]},{('TRUE', 'FALSE')[n % 2]}" for n in ROWS]),
    "commas": ("id,cost", [f'{n},"{1 + n % 3},{300 + n}.90"' for n in ROWS]),
    "euro": ("id;hb;cost", [f"{n};14,{n % 10};{1 + n % 3}.{300 + n},90" for n in ROWS]),
    "sites": ("sex,v", [f"{'FMfM'[n % 4]},1.0" for n in ROWS]),
    "nobody": ("pid,x", [f"P{n},{n % 10}" for n in ROWS] + ["NA,95"] * 80),
}
"""By name the head and the rows of a file."""

NO_PERSON = "person column 'pid' has missing values"


class Case(NamedTuple):
    """What is asked of a file, and what is right: a number, or what the refusal says."""

    file: str
    statistic: object
    right: float | str
    words: str
    options: Mapping[str, object] = MappingProxyType({})
    adjacency: Adjacency = Adjacency.REPLACE


DROP = Adjacency.ADD_OR_REMOVE
CASES = {
    "padded proportion": Case(
        "padded", Proportion("died", positive="Y"), 0.5, "proportion {} --column died --positive Y"
    ),
    "padded count": Case("padded", Count("died", among="Y"), 60, "count {} --column died --among Y"),
    "padded condition": Case(
        "padded",
        Subset(Count("sex", among="F"), "died == 'Y'"),
        30,
        "count {} --column sex --among F --where died=='Y'",
    ),
    "padded mean": Case("padded", Mean("age", bounds=(0, 120)), 49.5, "mean {} --column age --bounds 0 120"),
    "missing code": Case(
        "codes",
        Proportion("s", positive=1, missing="drop"),
        0.5,
        "proportion {} --column s --positive 1 --missing drop --na -9 --adjacency add_or_remove",
        {"na_values": [-9]},
        DROP,
    ),
    "persons with blanks": Case(
        "persons",
        Count("v"),
        40,
        "count {} --column v --person id",
        {"person": "id"},
        DROP,
    ),
    "another spelling": Case(
        "sites",
        Proportion("sex", positive="F", negative="M"),
        "neither positive nor negative",
        "proportion {} --column sex --positive F --negative M",
    ),
    "truth values": Case(
        "truths", Proportion("flag", positive=True), 2 / 3, "proportion {} --column flag --positive TRUE"
    ),
    "histogram of truth values": Case(
        "truths", Histogram("flag", values=(True, False)), 80, "histogram {} --column flag --values TRUE,FALSE"
    ),
    "described truth values": Case(
        "truths", Describe(("flag",), values={"flag": (True,)}), 2 / 3, "describe {} --values flag=TRUE --columns flag"
    ),
    "table of truth values": Case(
        "two truths",
        Crosstab("flag", "seen", rows=(True, False), columns=(True, False)),
        40,
        "crosstab {} --row flag --column seen --rows TRUE,FALSE --columns TRUE,FALSE",
    ),
    "padded description": Case(
        "padded",
        Describe(("age", "died", "sex"), bounds={"age": (0, 120)}, values={"died": ("Y",), "sex": ("F", "M")}),
        0.5,
        "describe {} --bounds age=0:120 --values died=Y sex=F,M --columns age died sex",
    ),
    "commas between thousands": Case(
        "commas", Mean("cost", bounds=(0, 5000)), "'cost' holds text", "mean {} --column cost --bounds 0 5000"
    ),
    "points between thousands": Case(
        "euro", Mean("cost", bounds=(0, 5000)), "'cost' holds text", "mean {} --column cost --bounds 0 5000"
    ),
    "persons without an identifier": Case(
        "nobody",
        Mean("x", bounds=(0, 100)),
        NO_PERSON,
        "mean {} --column x --bounds 0 100 --person pid",
        {"person": "pid"},
    ),
}


def comma_file(text, folder):
    path = folder / "t.csv"
    path.write_text(text, encoding="utf-8")
    return path


def typed(text):
    """The cells with the types that a reader of files infers; text keeps its blanks."""
    delimiter = ";" if ";" in text else ","
    options = pyarrow.csv.ConvertOptions(strings_can_be_null=True, null_values=["NA", ""])
    parsing = pyarrow.csv.ParseOptions(delimiter=delimiter)
    return pyarrow.csv.read_csv(io.BytesIO(text.encode()), parse_options=parsing, convert_options=options)


def parquet_file(text, folder):
    pyarrow.parquet.write_table(typed(text), folder / "t.parquet")
    return folder / "t.parquet"


FORMS = {
    "CSV": comma_file,
    "Parquet": parquet_file,
    "DuckDB": lambda text, folder: address("duckdb", typed(text), folder),
    "pandas": lambda text, folder: typed(text).to_pandas(),
    "polars": lambda text, folder: pl.from_arrow(typed(text)),
    "dictionary": lambda text, folder: typed(text).to_pydict(),
}


def agrees(estimate, right):
    """Whether it is the number that is right, the first of its counts, or the one share of a description."""
    if isinstance(estimate, DescribeEstimate):
        (estimate,) = (parts["proportion"] for each in estimate if "proportion" in (parts := estimate.of(each.column)))
    found = estimate.value if hasattr(estimate, "value") else np.ravel(estimate.counts)[0]
    return abs(found - right) <= 0.01 * right


@pytest.mark.each_value
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", CASES)
def test_what_is_right_is_said_in_python(name, form, tmp_path):
    case = CASES[name]
    head, rows = FILES[case.file]
    table = FORMS[form]("\n".join([head, *rows]) + "\n", tmp_path)

    def released():
        trust = ogive.Central(table, **case.options)
        return ogive.release(case.statistic, trust=trust, privacy=PureDP(1000), adjacency=case.adjacency)

    if isinstance(case.right, str):
        with pytest.raises(OgiveError, match=case.right):
            released()
    else:
        assert agrees(released(), case.right)


@pytest.mark.each_value
@pytest.mark.parametrize("form", ["CSV", "Parquet", "DuckDB"])
@pytest.mark.parametrize("name", CASES)
def test_what_is_right_is_said_on_the_command_line(name, form, tmp_path, capsys):
    case = CASES[name]
    head, rows = FILES[case.file]
    place = str(FORMS[form]("\n".join([head, *rows]) + "\n", tmp_path))
    out = tmp_path / "r.json"
    words = [word.format(place) for word in case.words.split(" ")]
    status = main([*words, "--epsilon", "1000", "-o", str(out)])
    if isinstance(case.right, str):
        assert status == 2
        assert not out.exists()
        assert re.search(f"ogive: error: .*{case.right}", capsys.readouterr().err)
    else:
        assert status == 0
        assert agrees(read_estimate(json.loads(out.read_text(encoding="utf-8"))), case.right)
