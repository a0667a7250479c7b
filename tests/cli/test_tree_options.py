"""Options of an AUC from trees on the command line: what they reach, and where they are refused."""

import json

import numpy as np
import pytest

import ogive
from ogive.cli import main
from ogive.local import Collection, Description
from ogive.statistics.ustatistic import trees as hierarchy

N = 1_200
RNG = np.random.default_rng(4)
LABELS = RNG.integers(0, 2, N)
SCORES = RNG.normal(LABELS, 1.0).clip(-5, 6).round(3)
AUC = ("--kernel", "auc", "--columns", "score", "sick", "--bounds", "-5", "6", "--bins", "32")
KNOWN = ("--public", "sick")
TREE = ("--method", "hierarchy", "--split", "budget", "--composition", "exact", "--branching", "4", "--a", "3")
TREE = (*TREE, "--variant", "zero", "--prune", "yes", "--nodes", "unary")
MADE = ogive.HierarchyAuc(
    split="budget", composition="exact", branching=4, a=3, variant="zero", prune=True, nodes="unary"
)
GRANT = ("--epsilon", "4", "--delta", "1e-6")


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("scores") / "scores.csv"
    rows = (f"{score},{label}" for score, label in zip(SCORES, LABELS, strict=True))
    path.write_text("score,sick\n" + "\n".join(rows) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def run(capsys):
    """Run a command: (status, standard output, standard error)."""

    def run_it(*arguments):
        status = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return run_it


def test_a_collection_by_files_is_read_as_was_asked(run, table, tmp_path):
    study, reports, state = tmp_path / "study.json", tmp_path / "all.reports", tmp_path / "state"
    status, _, err = run("local", "describe", "ustat", *AUC, *TREE, *GRANT, "--participants", N, "-o", study)
    assert status == 0, err
    description = Description.from_json(study.read_text())
    asked = ogive.Ustatistic(("score", "sick"), "auc", bounds=(-5, 6), bins=32, method=MADE)
    wanted = ogive.describe_collection(asked, privacy=ogive.ApproxDP(4, "1e-6"), participants=N)
    assert (description.oracle, description.statistic) == (wanted.oracle, wanted.statistic)
    assert run("local", "randomize", study, table, "-o", reports)[0] == 0
    status, out, err = run("local", "aggregate", study, reports, "--partial", state, "--json")
    assert status == 0, err
    collection = Collection(study.read_text())
    collection.add(reports.read_bytes())
    by_hand = hierarchy.auc(description.oracle, collection.sums, a=3, prune=True, variant="zero")
    assert json.loads(out)["value"] == by_hand.value


@pytest.mark.parametrize(
    ("option", "field"),
    [
        (("--variant", "zero"), {"variant": "zero"}),
        (("--a", "paper"), {"a": "paper"}),
        (("--a", "2.5"), {"a": 2.5}),
        (("--prune", "auto"), {}),
        (("--prune", "no"), {"prune": False}),
        (("--split", "users"), {}),
        (("--split", "budget"), {"split": "budget"}),
        (("--branching", "7"), {"branching": 7}),
        (("--nodes", "unary"), {"nodes": "unary"}),
    ],
)
def test_every_option_is_one_of_the_method(run, option, field):
    command = ("local", "describe", "ustat", *AUC, "--method", "hierarchy", *option, *GRANT, "--participants", N)
    status, out, err = run(*command, "--json")
    assert status == 0, err
    options = ogive.HierarchyAuc(**field)
    wanted = "hierarchy" if options == ogive.HierarchyAuc() else options.to_dict()
    assert json.loads(out)["statistic"]["method"] == wanted


def test_a_release_and_a_plan_take_them_too(run, table):
    status, out, err = run("ustat", table, *AUC, *TREE, *KNOWN, *GRANT, "--trust", "local", "--json")
    assert status == 0, err
    found = ogive.UstatisticEstimate.from_json(out)
    assert found.method == "hierarchy"
    assert str(found.provenance.price) == "epsilon = 4, delta = 1e-06"
    planned = ("plan", "ustat", *AUC, *TREE, *KNOWN, *GRANT, "--records", N, "--trust", "local", "--json")
    status, out, err = run(*planned)
    assert status == 0, err
    rows = {row["method"]: row["chosen"] for row in json.loads(out)["rows"]}
    assert [name for name, chosen in rows.items() if chosen] == ["hierarchy by hand"]
    assert "hierarchy" in rows


@pytest.mark.each_value
@pytest.mark.parametrize("command", ["ustat", "plan", "describe"])
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--variant", "zero"), "--variant requires --method hierarchy, got auto"),
        (("--method", "haar", "--prune", "no"), "--prune requires --method hierarchy, got haar"),
        (("--method", "krr", "--branching", "4"), "--branching requires --method hierarchy, got krr"),
        (("--method", "hierarchy", "--branching", "9"), "branching must be a whole number from 2 to 8, got 9"),
        (("--method", "hierarchy", "--branching", "2.5"), "must be a whole number, got '2.5'"),
        (("--method", "hierarchy", "--a", "1"), "a must be 'auto', 'paper' or a number above 1"),
        (("--method", "hierarchy", "--a", "best"), "or a number above 1 and at most 1e+06, got 'best'"),
        (("--method", "hierarchy", "--prune", "no", "--a", "2"), "--prune no discards none"),
        (("--method", "hierarchy", "--composition", "exact"), "use --split budget, or leave it out"),
    ],
)
def test_what_has_no_meaning_is_refused_in_one_line(run, table, tmp_path, command, options, message):
    start = {
        "ustat": ("ustat", table, "--trust", "local"),
        "plan": ("plan", "ustat", "--records", N, "--trust", "local"),
        "describe": ("local", "describe", "ustat", "--participants", N, "-o", tmp_path / "study.json"),
    }[command]
    status, out, err = run(*start, *AUC, *options, "--epsilon", "1")
    assert (status, out) == (2, "")
    assert message in err
    assert len(err.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_shares_with_slack_need_a_delta_and_a_plan_says_so_beside_what_fits(run, table):
    options = ("--method", "hierarchy", "--split", "budget", "--composition", "advanced", "--epsilon", "1")
    reason = "--composition advanced needs a guarantee with a delta, and there is none"
    status, out, err = run("ustat", table, *AUC, *KNOWN, *options, "--trust", "local")
    assert (status, out) == (2, "")
    assert err == f"ogive: error: {reason}; without one use --composition basic\n"
    status, out, err = run("plan", "ustat", *AUC, *KNOWN, *options, "--records", N, "--trust", "local", "--all")
    assert status == 0, err
    assert f"hierarchy by hand ({reason})\n" in out.replace("\n  ", " ")
