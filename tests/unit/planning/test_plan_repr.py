"""Plans in the interactive interpreter and in notebooks, and what units and models a plan takes."""

import re

import pytest
from helpers.scope import is_everything, size

import ogive
from ogive.cli import main
from ogive.errors import ParameterError
from ogive.pate.planning import LabelsPlan, LabelsPlanRow
from ogive.privacy import PureDP

pytestmark = pytest.mark.usefixtures("fewer_shapes")

ECDF = ogive.Ecdf("<age>", bounds=(0, 100), bins=size(32, part=8))
MEAN = ogive.Mean("age", bounds=(0, 100))


def words(html):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html))


def test_the_words_of_a_plan_are_few_and_say_what_is_taken():
    plan = ogive.plan(ECDF, privacy=[PureDP(1), PureDP(2)], records=1000)
    assert re.fullmatch(r"<Plan for ecdf of <age>: \d methods under 2 guarantees; takes \w+( or \w+)?>", repr(plan))
    assert repr(ogive.plan(MEAN, privacy=PureDP(1), records=1000)) == (
        "<Plan for mean of age: 1 method under 1 guarantee; takes mean>"
    )
    models = [ogive.Central, ogive.Local]
    several = ogive.plan(ogive.Proportion("age"), privacy=PureDP(1), records=1000, trust=models)
    assert "under central" in repr(several)
    assert "under local" in repr(several)


def test_a_notebook_shows_every_row_of_a_plan_and_what_columns_say():
    plan = ogive.plan(ECDF, privacy=[PureDP(1), PureDP(2)], records=1000)
    html = plan._repr_html_()
    assert "<age>" not in html
    shown = words(html)
    for row in plan.rows:
        assert row.method in shown
        assert str(row.privacy) in shown
    assert f"{plan.chosen.method} *" in shown
    assert "largest error at any threshold" in shown
    assert "does not apply: sqrt, symmetric and ring (" in shown
    assert html.count("<tr>") == 3 + 1 + len(plan.rows)


def test_what_is_printed_of_a_plan_is_the_table():
    plan = ogive.plan(MEAN, privacy=PureDP(1), records=1000)
    assert str(plan).startswith("plan for mean of age: 1,000 records, trust central\n")
    headings = re.split(r"  +", str(plan).split("\n\n")[1].splitlines()[1].strip())
    assert headings == ["method", "noise", "noise of the mean", "noise of the SD"]
    assert re.search("^noise of the mean: standard deviation .*in units of the column", str(plan), re.MULTILINE)


@pytest.mark.parametrize(
    ("statistic", "trust"),
    [(ogive.Mean("age", bounds=(0, 1), step=1), ogive.Central), (MEAN, ogive.Local)],
    ids=["two values", "reports"],
)
def test_no_noise_of_the_sd_is_told_where_no_sd_is_released(statistic, trust):
    plan = ogive.plan(statistic, privacy=PureDP(1), records=1000, trust=trust)
    assert set(plan.chosen.errors) == {"noise"}
    assert "noise of the SD" not in str(plan)


@pytest.mark.parametrize("name", ["count", "proportion", "mean", "sum", "histogram"])
def test_no_two_columns_of_a_plan_have_one_name_and_none_is_that_of_a_statistic(name):
    statistic = {
        "count": ogive.Count("age"),
        "proportion": ogive.Proportion("age"),
        "mean": MEAN,
        "sum": ogive.Sum("age", bounds=(0, 100)),
        "histogram": ogive.Histogram("age", values=(1, 2)),
    }[name]
    plan = ogive.plan(statistic, privacy=PureDP(1), records=1000)
    titles = re.findall(r"<th[^>]*>([^<]*)</th>", plan._repr_html_().split("<thead>")[1].split("</thead>")[0])
    assert len(titles) == len(set(titles))
    noise = "a count" if name == "histogram" else f"the {name}"
    assert {"noise", f"noise of {noise}"} <= set(titles)
    assert "SD" not in titles


def test_a_plan_of_labels_has_words_and_a_table_too():
    row = LabelsPlanRow(
        epsilon=1.0,
        aggregator="gnmax",
        parameters={"sigma": 40.0},
        asked=10,
        max_answers=10,
        answered=10.0,
        right=0.9,
        joint=None,
        corrected=None,
    )
    plan = LabelsPlan(delta=1e-5, queries=100, teachers=50, classes=3, known=True, rows=(row,))
    assert repr(plan) == ("<LabelsPlan of 100 queries, 50 teachers, 3 classes, delta = 1e-05: 1 row; best gnmax>")
    assert "gnmax" in words(plan._repr_html_())
    assert "most right answers at epsilon = 1" in words(plan._repr_html_())
    assert str(plan).splitlines()[0] == "100 queries, 50 teachers, 3 classes, delta = 1e-05"


PLANNED = ["--records", "1000", "--bounds", "0", "100", "--epsilon", "1"]


def told(capsys, *words):
    code = main(["plan", *words])
    said = capsys.readouterr()
    return code, said.out, said.err


@pytest.mark.parametrize("name", ["mean", "sum", "ecdf"])
def test_a_unit_is_said_where_errors_are_distances_of_values(name, capsys):
    bins = ("--bins", "16") if name == "ecdf" and not is_everything() else ()
    code, out, _ = told(capsys, name, *PLANNED, *bins, "--unit", "mg/dL")
    assert code == 0
    assert "mg/dL" in out
    assert "units of the column" not in out


@pytest.mark.parametrize(
    "asked",
    [
        ["count", "--records", "1000", "--epsilon", "1"],
        ["proportion", "--records", "1000", "--epsilon", "1"],
        ["roc", *PLANNED, "--runs", "2", "--bins", "16"],
        ["ecdf", "--records", "1000", "--bounds", "2020-01-01", "2020-12-31", "--bins", "16", "--epsilon", "1"],
    ],
    ids=["count", "proportion", "roc", "dates"],
)
def test_a_unit_that_nothing_is_said_in_is_refused(asked, capsys):
    code, out, err = told(capsys, *asked, "--unit", "mg/dL")
    assert (code, out) == (2, "")
    assert re.fullmatch(r"ogive: error: --unit .*this plan of \w+ has none; leave out --unit\n", err)


@pytest.mark.parametrize("option", ["--auc", "--positive-share"])
@pytest.mark.parametrize("name", ["ecdf", "quantiles", "boxplot", "mean"])
def test_a_model_of_classes_is_refused_where_there_are_none(name, option, capsys):
    code, _, err = told(capsys, name, *PLANNED, option, "0.7")
    assert code == 2
    assert f"records in two classes; leave out {option} 0.7" in err


def test_a_model_of_classes_is_refused_in_python_too():
    with pytest.raises(ParameterError, match=r"leave out auc=0\.7"):
        ogive.plan(MEAN, privacy=PureDP(1), records=1000, auc=0.7)
    roc = ogive.Roc("s", "y", bounds=(0, 1), bins=16)
    assert ogive.plan(roc, privacy=PureDP(1), records=1000, auc=0.7, runs=2).rows
