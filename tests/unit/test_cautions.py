"""What is said of releases that are in no ledger, and of those that say nothing."""

import dataclasses
import logging
import math
import re
import subprocess
import sys
import warnings

import numpy as np
import pytest
from helpers.forked import python
from helpers.scope import is_everything
from helpers.waiting import PATIENCE

import ogive
from ogive.cli import main
from ogive.noise import DiscreteLaplace, SystemSource
from ogive.releasing import release as releasing
from ogive.statistics.base import Terms
from ogive.strategies import LeastSquaresTree
from ogive.strategies.base import LOUD, noise_share

FEW = np.arange(20.0)
MANY = np.linspace(0, 100, 20_000)
LITTLE = ogive.PureDP("0.1")


@pytest.fixture(autouse=True)
def _nothing_said_yet(monkeypatch):
    monkeypatch.setattr(releasing._Warned, "without_ledger", False)
    monkeypatch.setattr(releasing._Warned, "weak", False)


def released(values=FEW, privacy=LITTLE, **more):
    return ogive.ecdf(values, bounds=(0, 100), bins=64, privacy=privacy, **more)


@pytest.mark.parametrize("method", ["tree_ls", "hat_ls", "path", "adaptive", "auto"])
def test_noise_that_hides_a_public_number_of_records_is_said_before_the_spend(method, tmp_path):
    session = ogive.Session({"x": FEW}, limit=ogive.PureDP(1), ledger=tmp_path / "a.db", name="few")
    with warnings.catch_warnings():
        warnings.simplefilter("error", ogive.NoiseWarning)
        with pytest.raises(ogive.NoiseWarning, match=r"noise will be .* of the records"):
            session.ecdf("x", bounds=(0, 100), bins=64, privacy=LITTLE, method=method)
    assert session.account.spent is None
    assert session.remaining == ogive.PureDP(1)


def test_a_private_number_of_records_is_not_told_by_a_warning_before_it_is_released():
    with pytest.warns(ogive.NoiseWarning, match="the number of records is private, so this was not known before"):
        released(adjacency="add_or_remove")


@pytest.mark.parametrize("adjacency", ["replace", "add_or_remove"])
def test_noise_far_below_the_records_is_not_warned_of(adjacency):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        released(MANY, adjacency=adjacency)


def test_each_release_is_warned_of_once():
    with pytest.warns(ogive.NoiseWarning) as found:
        released(method="adaptive")
    assert len(found) == 1


def test_classes_and_groups_share_the_records():
    scores, labels = np.linspace(0, 1, 400), np.arange(400) % 2
    with pytest.warns(ogive.NoiseWarning, match="noise will be"):
        ogive.roc(scores, labels, bounds=(0, 1), bins=64, privacy=ogive.PureDP("0.05"))


NUMBERS = {
    "count": (ogive.Count("x", among=(1,)), "of the records"),
    "proportion": (ogive.Proportion("x", positive=(1,)), "of the records"),
    "mean": (ogive.Mean("x", bounds=(0, 20)), "of the distance of the bounds"),
    "sum": (ogive.Sum("x", bounds=(0, 20)), "of the distance of the bounds"),
    "gini": (ogive.Ustatistic("x", "gini", bounds=(0, 20), method="kernel"), "of the range"),
    "cells": (ogive.Ustatistic("x", "gini", bounds=(0, 20), bins=8, method="cells"), "of the records"),
    "groups": (ogive.Grouped(ogive.Mean("x", bounds=(0, 20)), "g", ("a", "b")), "of the distance of the bounds"),
    "curves": (ogive.Grouped(ogive.Ecdf("x", bounds=(0, 20), bins=16), "g", ("a", "b")), "at a threshold"),
    "subset": (ogive.Subset(ogive.Mean("x", bounds=(0, 20)), "g == 'a'"), "of the distance of the bounds"),
}


def people(number):
    return {"x": np.arange(number) % 20, "g": np.where(np.arange(number) % 2, "a", "b")}


@pytest.mark.parametrize("name", NUMBERS)
def test_noise_that_hides_numbers_pairs_and_groups_is_said_before_the_spend(name, tmp_path):
    statistic, beside = NUMBERS[name]
    session = ogive.Session(people(20), limit=ogive.PureDP(1), ledger=tmp_path / "a.db", name="few")
    with warnings.catch_warnings():
        warnings.simplefilter("error", ogive.NoiseWarning)
        with pytest.raises(ogive.NoiseWarning, match=f"noise will be .* {beside}"):
            session.release(statistic, privacy=ogive.PureDP("0.05"))
    assert session.account.spent is None
    with pytest.warns(ogive.NoiseWarning) as found:
        session.release(statistic, privacy=ogive.PureDP("0.05"))
    assert len(found) == 1


@pytest.mark.parametrize(
    ("name", "adjacency"),
    # a mean over pairs by the kernel needs a public number of records
    [(name, each) for name in NUMBERS for each in ("replace", "add_or_remove") if (name, each[:3]) != ("gini", "add")],
)
def test_numbers_pairs_and_groups_of_many_records_are_not_warned_of(name, adjacency):
    statistic, _ = NUMBERS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ogive.release(
            statistic,
            trust=ogive.Central(people(20_000)),
            privacy=ogive.PureDP(1),
            adjacency=ogive.Adjacency(adjacency),
        )


def release_twenty_times(name):
    # noise makes four records look like many in up to a fifth of the releases: all twenty have probability below 1e-13
    for _ in range(20):
        ogive.release(
            NUMBERS[name][0],
            trust=ogive.Central(people(4)),
            privacy=ogive.PureDP("0.02"),
            adjacency=ogive.Adjacency.ADD_OR_REMOVE,
        )


@pytest.mark.parametrize("name", ["count", "proportion", "mean", "groups"])
def test_numbers_of_a_private_number_of_records_are_warned_of_once_they_are_released(name):
    with pytest.warns(ogive.NoiseWarning, match="not known before the spend|of which it leaves none"):
        release_twenty_times(name)


@pytest.mark.parametrize("name", ["proportion", "mean"])
def test_reports_of_few_owners_are_warned_of_before_the_spend(name):
    with pytest.warns(ogive.NoiseWarning, match="noise will be"):
        ogive.release(NUMBERS[name][0], trust=ogive.Local(people(20)), privacy=ogive.PureDP("0.2"))


@pytest.mark.parametrize("name", ["count", "proportion", "mean", "sum"])
def test_the_share_said_before_is_that_of_the_noise_that_was_added(name):
    with pytest.warns(ogive.NoiseWarning) as found:
        estimate = ogive.release(NUMBERS[name][0], trust=ogive.Central(people(20)), privacy=ogive.PureDP("0.05"))
    said = float(re.search(r"noise will be ([\d.]+) of", str(found[0].message))[1])
    assert said == pytest.approx(estimate.noise_share(), rel=0.05)
    largest = {"count": 20, "proportion": 1, "mean": 20, "sum": 400}[name]
    assert estimate.noise_share() == pytest.approx(estimate.noise_error / largest)


def test_the_share_is_the_root_mean_square_and_what_is_not_computed_is_below_the_line():
    for scale in (1, 4, 64):
        strategy = LeastSquaresTree(64, (1, 8), (DiscreteLaplace(scale),) * 2)
        for records in (1, 10, 100, 1000, 100_000):
            exact = np.sqrt(np.mean(strategy.variance(total_known=True))) / records
            found = noise_share(strategy, records, total_known=True)
            assert found in (0.0, pytest.approx(exact))
            assert (found >= LOUD) is bool(exact >= LOUD)
    assert noise_share(strategy, 0, total_known=True) == float("inf")


def test_a_release_in_no_ledger_is_said_once(caplog):
    with caplog.at_level(logging.WARNING, logger="ogive.releasing.release"):
        released(MANY)
        released(MANY)
    assert [record.getMessage() for record in caplog.records] == [releasing.NO_LEDGER]


def test_a_release_from_a_ledger_or_without_privacy_or_by_replay_says_nothing_of_ledgers(caplog, tmp_path):
    with caplog.at_level(logging.WARNING, logger="ogive.releasing.release"):
        session = ogive.Session({"x": MANY}, limit=ogive.PureDP(1), ledger=tmp_path / "a.db", name="many")
        session.ecdf("x", bounds=(0, 100), bins=64, privacy=LITTLE)
        ask = ogive.Ecdf("x", bounds=(0, 100), bins=64)
        ogive.release(ask, trust=ogive.Clear({"x": MANY}))
        ogive.release(ask, trust=ogive.Central({"x": MANY}), privacy=LITTLE, source=SystemSource())
    assert not caplog.records


def test_the_command_says_both_on_standard_error_and_its_flag_silences_one(tmp_path, capsys, caplog):
    path = tmp_path / "few.csv"
    path.write_text("x\n" + "\n".join(map(str, FEW)), encoding="utf-8")
    asked = ["ecdf", str(path), "--column", "x", "--bounds", "0", "100", "--epsilon", "0.1", "-o", str(tmp_path / "o")]
    assert main(asked) == 0
    captured = capsys.readouterr()
    assert captured.err.count("ogive: warning: noise will be") == 1
    assert captured.out.startswith("Distribution function of x")
    assert releasing.NO_LEDGER in caplog.messages
    caplog.clear()
    releasing._Warned.without_ledger = False
    assert main([*asked, "--no-ledger"]) == 0
    assert releasing.NO_LEDGER not in caplog.messages
    assert main([*asked, "--no-ledger", "--ledger", str(tmp_path / "a.db")]) == 2
    assert "give either --ledger or --no-ledger, not both" in capsys.readouterr().err


def test_a_process_that_turns_warnings_into_errors_is_not_stopped_by_the_word_on_ledgers():
    code = "import ogive; ogive.ecdf(range(2000), bounds=(0, 2000), bins=16, privacy=ogive.PureDP(1))"
    strict = [sys.executable, "-W", "error", "-c", code]
    if not is_everything():  # in a process that has imported everything
        strict = [python(), "-c", f"import warnings; warnings.simplefilter('error'); {code}"]
    done = subprocess.run(strict, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("in no ledger") == 1


def test_the_command_warns_of_a_mean_once(tmp_path, capsys):
    path = tmp_path / "few.csv"
    path.write_text("x\n" + "\n".join(map(str, FEW)), encoding="utf-8")
    asked = ["mean", str(path), "--column", "x", "--bounds", "0", "100", "--epsilon", "0.05", "--no-ledger"]
    assert main(asked) == 0
    assert capsys.readouterr().err.count("ogive: warning: noise will be") == 1
    assert main([*asked[:-3], "--epsilon", "5", "--no-ledger"]) == 0
    assert "warning" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("privacy", "said"),
    [
        (ogive.PureDP(10), None),
        (ogive.PureDP("10.01"), "epsilon = 10.01 protects little: already at epsilon = 10, "),
        (ogive.ApproxDP(50, "1e-6"), "epsilon = 50, delta = 1e-06 protects little"),
        (ogive.ZeroConcentratedDP(50), None),
        (
            ogive.ZeroConcentratedDP(51),
            "rho = 51 (zCDP) protects little: already at rho = 50, which epsilon = 10 implies,",
        ),
    ],
    ids=str,
)
def test_a_guarantee_that_protects_little_is_told_once_before_it_is_spent(privacy, said, caplog):
    with caplog.at_level(logging.WARNING, logger="ogive.releasing.release"):
        for _ in range(2):
            released(MANY, privacy=privacy, method="sqrt" if isinstance(privacy, ogive.ZeroConcentratedDP) else "path")
    told = [message for message in caplog.messages if "protects little" in message]
    assert len(told) == (said is not None)
    if said is not None:
        assert told[0].startswith(f"ogive: {said}")
        assert caplog.messages[0] == told[0]
        assert "99.995 % sure" in told[0]


def test_the_chance_that_is_told_is_that_of_the_threshold():
    at_most = math.exp(releasing.LARGEST_EPSILON) / (1 + math.exp(releasing.LARGEST_EPSILON))
    assert f"{100 * at_most:.3f}" == "99.995"
    assert ogive.accounting.as_concentrated(ogive.PureDP(releasing.LARGEST_EPSILON)).rho <= releasing.LARGEST_RHO


def test_a_release_from_a_ledger_is_told_on_the_command_line_that_it_protects_little(tmp_path, capsys):
    table = tmp_path / "people.csv"
    table.write_text("age\n" + "40\n60\n" * 500)
    asked = ["mean", str(table), "--column", "age", "--bounds", "0", "90", "--ledger", str(tmp_path / "b.db")]
    assert main([*asked, "--epsilon", "50", "--limit-epsilon", "60"]) == 0
    assert capsys.readouterr().out.startswith("mean of age (epsilon = 50")
    assert releasing._Warned.weak
    releasing._Warned.weak = False
    assert main([*asked, "--epsilon", "50"]) == 0
    assert not releasing._Warned.weak, "a stored answer spends nothing"


@pytest.mark.one_in(2)
@pytest.mark.parametrize("adjacency", list(ogive.Adjacency))
def test_a_description_is_warned_of_in_the_words_of_its_table(adjacency):
    people = {"x": np.arange(60) % 20}
    question = ogive.Describe(bounds={"x": (0, 10**9)}, weights={"x": 1})
    with pytest.warns(ogive.NoiseWarning) as found:
        ogive.release(question, trust=ogive.Central(people), privacy=ogive.PureDP("0.05"), adjacency=adjacency)
    assert "at a threshold" not in str(found[0].message)
    curve = ogive.Quantiles("x", (0.5,), bounds=(0, 20), method="histogram")
    query = next(curve.questions(Terms(ogive.PureDP("0.05"), ogive.PrivacyUnit(adjacency), lambda query: None)))
    assert "in counts from which a median or quartile is read" in str(
        releasing.warning_before(query, 60, question.noise_beside)
    )
    assert "at a threshold" in str(releasing.warning_before(query, 60))


@pytest.mark.parametrize("probabilities", [(0.5,), (0.25, 0.5, 0.75)], ids=["one", "several"])
def test_selected_quantiles_are_not_warned_of_for_their_intervals(probabilities):
    """A curve that is read for intervals has 0.7 of the records as noise; quantiles are off by some ranks."""
    values = np.random.default_rng(1).normal(50, 15, 1000).clip(0, 100)
    asked = ogive.Quantiles("x", probabilities, bounds=(0, 100))
    terms = {
        "trust": ogive.Central({"x": values}),
        "privacy": ogive.PureDP("0.1"),
        "source": ogive.noise.KeyedSource.from_seed(1),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("error", ogive.NoiseWarning)
        found = ogive.release(asked, **terms)
    assert np.abs(np.searchsorted(np.sort(values), found.values) / 1000 - probabilities).max() < 0.2
    # the control: a curve with that noise is warned of
    with pytest.warns(ogive.NoiseWarning, match="of the records at a threshold"):
        ogive.release(dataclasses.replace(asked, few="curve"), trust=terms["trust"], privacy=ogive.PureDP("0.02"))


WHERE = "g == 'a'"
PARTED = {
    "where": lambda asked: ogive.Subset(asked, WHERE),
    "groups": lambda asked: ogive.Grouped(dataclasses.replace(asked, method="joint"), "g", ("a", "b")),
    "where of groups": lambda asked: ogive.Subset(
        ogive.Grouped(dataclasses.replace(asked, method="joint"), "h", ("c", "d")), WHERE
    ),
}


@pytest.mark.parametrize("public", [(), ("g", "h")], ids=["hidden", "public"])
@pytest.mark.parametrize("parted", PARTED)
def test_selected_quantiles_of_some_of_the_records_are_not_warned_of_for_their_intervals(parted, public):
    rng = np.random.default_rng(1)
    people = {
        "x": rng.normal(500, 150, 1000).clip(0, 1000),
        "g": rng.choice(["a", "b"], 1000),
        "h": rng.choice(["c", "d"], 1000),
    }
    asked = ogive.Quantiles("x", (0.5,), bounds=(0, 1000), few="selected")
    terms = {"trust": ogive.Central(people), "privacy": LITTLE, "public": list(public)}
    with warnings.catch_warnings():
        warnings.simplefilter("error", ogive.NoiseWarning)
        found = ogive.release(PARTED[parted](asked), **terms)
    assert "joint_exponential" in found.provenance.method
    # the control: a curve with that noise is warned of
    curve = dataclasses.replace(asked, few="curve")
    with pytest.warns(ogive.NoiseWarning, match="of the records at a threshold"):
        ogive.release(ogive.Subset(curve, WHERE), trust=terms["trust"], privacy=ogive.PureDP("0.02"))


def described(people, **more):
    bounds = {name: (0, 20) for name in ("x", "y") if name in people}
    ask = ogive.Describe(bounds=bounds, **more)
    return ogive.release(
        ask, trust=ogive.Central(people), privacy=ogive.PureDP(20), adjacency=ogive.Adjacency.ADD_OR_REMOVE
    )


def test_a_group_without_a_record_does_not_make_a_description_say_nothing():
    number = np.arange(2000)
    people = {"x": number % 20, "g": np.where(number % 2, "a", "b")}
    with warnings.catch_warnings():
        warnings.simplefilter("error", ogive.NoiseWarning)
        for _ in range(4):
            described(people, by="g", groups=("a", "b", "zz"))


def test_of_a_description_the_variables_that_noise_hides_are_named():
    people = {"x": np.arange(2000) % 20, "y": np.full(2000, np.nan)}
    with pytest.warns(ogive.NoiseWarning, match="says (little or )?nothing of y; the number of records is private"):
        described(people, missing={"y": "drop"})


def test_a_description_of_nobody_says_nothing():
    people = {"x": np.full(50, np.nan), "g": np.full(50, "a")}
    with pytest.warns(ogive.NoiseWarning, match="of which it leaves none, so that this release says nothing"):
        [described(people, by="g", groups=("a", "b"), missing={"x": "drop"}) for _ in range(20)]


def test_areas_between_groups_that_have_one_class_each_say_something():
    number = np.arange(4000)
    people = {"s": number % 20 / 20, "y": number % 2, "g": np.where(number % 2, "Yes", "No")}
    ask = ogive.GroupAuc("s", "y", "g", group_values=("Yes", "No"), bounds=(0, 1), bins=20)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ogive.NoiseWarning)
        found = ogive.release(ask, trust=ogive.Central(people), privacy=ogive.PureDP(1))
    assert math.isnan(found.between("Yes", "Yes").value)
    assert not math.isnan(found.between("Yes", "No").value)


@pytest.mark.parametrize("asked", [ogive.Ecdf, ogive.Quantiles, ogive.Boxplot], ids=["ecdf", "quantiles", "boxplot"])
def test_a_subset_that_noise_leaves_without_records_is_told(asked):
    statistic = asked("x", bounds=(0, 20), **({"few": "curve"} if asked is ogive.Quantiles else {}))
    terms = {"trust": ogive.Central(people(2000)), "privacy": ogive.PureDP(20)}
    with pytest.warns(ogive.NoiseWarning, match="of which it leaves none, so that this release says nothing"):
        # noise makes nobody look like somebody in half of the releases
        [ogive.release(ogive.Subset(statistic, "g == 'zz'"), **terms) for _ in range(40)]


@pytest.mark.parametrize("adjacency", ogive.Adjacency, ids=str)
def test_a_warning_is_of_the_line_that_calls(adjacency):
    """Of a function, a verb of a session and a release, before and after the charge."""
    few, paid = {"x": FEW[:4]}, {"privacy": LITTLE}

    def session():
        return ogive.Session(few, limit=ogive.PureDP(1), adjacency=adjacency)

    asked = ogive.Mean("x", bounds=(0, 100))
    calls = [
        lambda: ogive.mean(FEW[:4], bounds=(0, 100), adjacency=adjacency, **paid),
        lambda: session().mean("x", bounds=(0, 100), **paid),
        lambda: session().release(asked, **paid),
        lambda: ogive.release(asked, trust=ogive.Central(few), adjacency=adjacency, **paid),
    ]
    for call in calls:
        with pytest.warns(ogive.NoiseWarning) as raised:  # where noise makes four records many, nothing is told
            [call() for _ in range(40)]
        assert {each.filename for each in raised} == {__file__}
