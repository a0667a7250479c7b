"""Curves, quantiles and boxes of the local model by command: simulated, and collected by hand."""

import json

import numpy as np
import pytest
from helpers.scope import is_everything

import ogive
from ogive.cli import main

N = 4_000
RNG = np.random.default_rng(6)
REGION = RNG.choice(["north", "south"], N, p=[0.4, 0.6])
AGE = (RNG.normal(45, 12, N) + 15 * (REGION == "south")).clip(0, 120).round(1)
MEASURE = ("--column", "age", "--bounds", "0", "120", "--bins", "32")
GROUPS = ("--by", "region", "--by-groups", "north", "south")
LOCAL = ("--epsilon", "4", "--trust", "local")


@pytest.fixture
def run(capsys):
    """Run a command: (status, standard output, standard error)."""

    def run_it(*arguments):
        status = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return run_it


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("local_curves") / "people.csv"
    path.write_text("age,region\n" + "\n".join(f"{age},{region}" for age, region in zip(AGE, REGION, strict=True)))
    return path


@pytest.mark.parametrize(
    ("command", "reader", "read", "truth", "room"),
    [
        (("ecdf",), ogive.Curve, lambda found: found(60), np.mean(AGE <= 60), 0.08),
        (
            ("quantiles", "--probabilities", "0.25", "0.5"),
            ogive.QuantileEstimates,
            lambda found: found.numbers[1],
            np.median(AGE),
            8,
        ),
        pytest.param(
            *(("boxplot",), ogive.Boxplots, lambda found: found.boxes[0].median, np.median(AGE), 8),
            marks=pytest.mark.everything,
        ),
        (
            ("boxplot", *GROUPS, "--public", "region"),
            ogive.Boxplots,
            lambda found: found["south"].median,
            np.median(AGE[REGION == "south"]),
            8,
        ),
    ],
    ids=["ecdf", "quantiles", "boxplot", "boxplots"],
)
def test_releases_under_trust_local_are_near_the_truth_and_can_be_drawn(
    run, table, tmp_path, command, reader, read, truth, room
):
    drawn = is_everything() or command[0] != "quantiles"
    plot = ("--plot", tmp_path / "drawn.png") if drawn else ()
    status, out, err = run(command[0], table, *command[1:], *MEASURE, *LOCAL, "-o", tmp_path / "found.json", *plot)
    assert status == 0, err
    assert len(out.splitlines()) > 1
    assert "trust model local" in out
    found = reader.from_json(tmp_path / "found.json")
    assert found.provenance.trust == "local"
    assert abs(read(found) - truth) < room
    if plot:
        assert plot[1].read_bytes().startswith(b"\x89PNG")
        assert f"wrote {plot[1]}" in err
    if is_everything():
        status, out, _ = run(command[0], table, *command[1:], *MEASURE, *LOCAL)
        assert status == 0
        assert "trust model local" in out


@pytest.mark.parametrize(
    "groups", [pytest.param((), marks=pytest.mark.everything), (*GROUPS, "--public-groups")], ids=["one", "groups"]
)
def test_boxes_are_described_randomized_and_aggregated(run, table, tmp_path, groups):
    study, reports, boxes = tmp_path / "study.json", tmp_path / "all.reports", tmp_path / "boxes.json"
    asked = ("--epsilon", "4", "--participants", N, "--title", "Ages")
    status, out, err = run("local", "describe", "boxplot", *MEASURE, *groups, *asked, "-o", study)
    assert status == 0, err
    assert ("region" in out) == bool(groups)
    status, _, err = run("local", "randomize", study, table, "-o", reports)
    assert status == 0, err
    status, _, err = run("local", "aggregate", study, reports, "-o", boxes, "--plot", tmp_path / "boxes.svg")
    assert status == 0, err
    assert f"{N} reports accepted" in err
    found = ogive.Boxplots.from_json(boxes)
    assert found.public_groups == bool(groups)
    for box in found.boxes:
        own = AGE if box.group is None else AGE[box.group == REGION]
        assert box.records == len(own)
        assert abs(box.median - np.median(own)) < 8
    assert (tmp_path / "boxes.svg").read_text().count("<svg") == 1
    # the control: reports to another description, though of the same question, count for nothing
    other = tmp_path / "other.json"
    assert run("local", "describe", "boxplot", *MEASURE, *groups, *asked, "-o", other)[0] == 0
    status, out, err = run("local", "aggregate", other, reports, "-o", tmp_path / "none.json")
    assert status != 0
    assert "at least 2 reports are needed" in err
    assert not (tmp_path / "none.json").exists()


@pytest.mark.everything
@pytest.mark.usefixtures("fewer_imagined_releases")
def test_every_curve_can_be_described_with_its_predicted_errors(run):
    for command in (("quantiles", "--probabilities", "0.5"), ("boxplot",)):
        status, out, err = run(
            "local", "describe", *command, *MEASURE[:-1], "8", "--epsilon", "2", "--participants", "5000", "--predict"
        )
        assert status == 0, err
        assert "5,000 records, trust local" in out


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("command", "message"),
    [
        (("boxplot", *MEASURE, *LOCAL, *GROUPS), "groups are public under trust local; use --public-groups"),
        (
            ("boxplot", *MEASURE, *LOCAL, "--by", "region", "--by-groups", "north", "--public", "region"),
            "not among its categ",
        ),
        (("boxplot", *MEASURE, *LOCAL, "--method", "five_numbers"), "boxplot with --method resample"),
        (
            ("ecdf", *MEASURE, *LOCAL, "--method", "path"),
            "ecdf and quantiles with --method reports or histogram, boxplot",
        ),
        (("ecdf", *MEASURE, *LOCAL, "--method", "histogram", "--groups", "1"), "needs at least two groups"),
        (
            ("quantiles", *MEASURE, *LOCAL, "--method", "bisection"),
            "ecdf and quantiles with --method reports or histogram, boxplot",
        ),
        (("ecdf", *MEASURE, *LOCAL, "--adjacency", "add_or_remove"), "the number of records cannot be private"),
        (("ecdf", *MEASURE, "--epsilon", "1", "--method", "reports"), "use trust local, or a method without reports"),
        (("ecdf", *MEASURE[:-1], "1", *LOCAL), "reports serve 2 to 1048576 thresholds, got 1"),
        (("ecdf", *MEASURE[:-1], "1048577", *LOCAL), "reports serve 2 to 1048576 thresholds, got 1048577"),
        (("ecdf", *MEASURE, "--epsilon", "0", "--trust", "local"), "epsilon"),
        (("ecdf", *MEASURE, "--epsilon", "1e-10", "--trust", "local"), "epsilon must be at least 1e-9, got 1e-10"),
        (("ecdf", *MEASURE, "--trust", "local"), "give a privacy guarantee"),
        (("ecdf", "--column", "region", *MEASURE[2:], *LOCAL), "column 'region' holds text"),
        (("ecdf", "--column", "agee", *MEASURE[2:], *LOCAL), "agee"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line_and_nothing_is_written(run, table, tmp_path, command, message):
    status, out, err = run(command[0], table, *command[1:], "-o", tmp_path / "out.json", "--plot", tmp_path / "out.png")
    assert status in (1, 2)
    assert out == ""
    assert message in err
    assert len(err.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_a_description_that_no_owner_can_answer_is_refused(run, tmp_path):
    asked = ("--epsilon", "1", "--participants", "1")
    for command, message in (
        (("boxplot", *MEASURE, *GROUPS), "use --public-groups"),
        (("ecdf", *MEASURE), "reports on 5 levels need at least 5 records, got 1"),
    ):
        status, out, err = run("local", "describe", *command, *asked, "-o", tmp_path / "study.json")
        assert status in (1, 2)
        assert (out, len(err.splitlines())) == ("", 1)
        assert message in err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.everything
@pytest.mark.usefixtures("fewer_imagined_releases")
def test_the_plan_compares_curators_with_owners(run):
    status, out, err = run(
        "plan", "ecdf", *MEASURE, "--epsilon", "1", "--records", "4000", "--trust", "local", "--json"
    )
    assert status == 0, err
    rows = json.loads(out)["rows"]
    assert sorted(row["method"] for row in rows) == ["histogram", "reports"]
    status, out, _ = run("plan", "ecdf", *MEASURE, "--epsilon", "1", "--records", "4000", "--json")
    seen = min(row["errors"]["rmse"] for row in json.loads(out)["rows"])
    assert all(row["errors"]["rmse"] > 10 * seen for row in rows)
