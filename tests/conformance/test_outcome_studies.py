"""Releases of studies of organizations, one of which is killed; survival also of people's uploads and from reports."""

import subprocess
import sys
from dataclasses import replace
from functools import partial

import numpy as np
import pyarrow as pa
import pytest
from helpers import servers_study
from helpers.forked import program
from helpers.waiting import PATIENCE

from ogive.demo.banks import Loopback, prepare
from ogive.errors import DataError, UnsupportedError
from ogive.local import Collection, Randomizer
from ogive.noise import KeyedSource
from ogive.privacy import PureDP
from ogive.releasing.collecting import describe_collection, estimate_collection
from ogive.releasing.release import release
from ogive.statistics import Concordance, Survival, Validation
from ogive.statistics.kinds import read_estimate, read_recorded
from ogive.statistics.validation.estimate import ValidationEstimate
from ogive.trust import Central, Clear, Local, SecAgg

HOSPITALS = {"north": 700, "south": 1_200, "harbor": 1_100}
BANKS = {"bank-1": 500, "bank-2": 900, "bank-3": 700, "bank-4": 300, "bank-5": 600}
ASKED = Survival("months", "died", (0, 24), grid="integers", method="tree_ls")
INDICES = Concordance("risk", "months", "died", (0, 24), bins=4, score_bins=5, predicts=24, ties="half", method="path")
JUDGED = Validation("risk", "label", other="old", bins=20, method="tree_ls")
ALMOST_EXACT = 400
"""An epsilon whose noise is zero, but for once in 10^7 releases."""
STUDY = """\
ogive-study = 1
name = "outcomes"
records = {records}
colluding = 1
dropouts = 0
budget = {{ epsilon = 1000 }}
[coordinator]
key = "{coordinator}"
{parties}
{releases}
"""
WORDS = {
    "survival": """\
time = "months"
event = "died"
bounds = [0, 24]
grid = "integers"
method = "tree_ls"
""",
    "concordance": """\
score = "risk"
time = "months"
event = "died"
bounds = [0, 24]
bins = 4
score_bins = 5
predicts = 24
ties = "half"
method = "path"
""",
    "validate": """\
score = "risk"
label = "label"
other = "old"
bins = 20
method = "tree_ls"
""",
}
RELEASE = """\
[[release]]
name = "{statistic}-{name}"
statistic = "{statistic}"
privacy = {{ epsilon = {epsilon} }}
{words}
"""
PRICES = {"exact": ALMOST_EXACT, "noisy": 1}


def patients(number, rows):
    rng = np.random.default_rng(number)
    months, left = np.ceil(24 * rng.weibull(1.2, rows)), rng.integers(6, 40, rows)
    risk = np.clip(1 - months / 60 - rng.random(rows) / 3, 0, 1)
    return {
        "months": np.minimum(months, left).astype(np.int64),
        "died": (months <= left).astype(np.int64),
        "risk": risk,
    }


def customers(number, rows):
    rng = np.random.default_rng(number)
    odds = rng.normal(-0.5, 1.2, rows)
    chances = 1 / (1 + np.exp(-np.stack([odds, odds / 2 + rng.normal(0, 0.5, rows)])))
    return {"risk": chances[0], "old": chances[1], "label": (rng.random(rows) < chances[0]).astype(np.int64)}


def written(statistics, records, coordinator, keys):
    return STUDY.format(
        records=records,
        coordinator=coordinator,
        parties="".join(f'[[party]]\nname = "{name}"\nkey = "{key}"\n' for name, key in keys.items()),
        releases="".join(
            RELEASE.format(statistic=statistic, name=name, epsilon=epsilon, words=WORDS[statistic])
            for statistic in statistics
            for name, epsilon in PRICES.items()
        ),
    )


def of_study(folder, tables, killed, statistics):
    """What organizations release of each statistic, where one is killed once it sent its counts, and restarted."""
    records = sum(len(table["risk"]) for table in tables.values())
    prepare(
        folder,
        records={name: pa.table(table) for name, table in tables.items()},
        write=partial(written, statistics, records),
    )
    with Loopback(folder, step_seconds=PATIENCE) as study:
        study.start()
        for statistic in statistics:
            sent = f"release {statistic}-exact, query 1, attempt 1: answered the step input"
            for name in PRICES:
                study.request(release := f"{statistic}-{name}")
                if name == "exact":
                    study.until(lambda sent=sent: sent in study.log_text(killed), PATIENCE)
                    study.kill(killed)
                    study.agent(killed)
                study.until(lambda release=release: study.is_complete(release), PATIENCE)
        assert study.log_text(killed).count("connected to the coordinator") == 1 + len(statistics)
        found = [[read_recorded(study.result(f"{statistic}-{name}")) for name in PRICES] for statistic in statistics]
    for _, noisy in found:
        assert (noisy.provenance.trust, noisy.provenance.price, noisy.total) == ("secagg", PureDP(1), records)
    return found


def pooled(tables):
    return {name: np.concatenate([table[name] for table in tables.values()]) for name in next(iter(tables.values()))}


def near(noisy, exact, measures):
    """Measures are those of all records within 5 standard errors, which know of the noise that there is."""
    assert np.abs(noisy.raw - exact.raw).max() > 0
    for measure in measures:
        value, truth = measure(noisy), measure(exact)
        assert abs(value.value - truth.value) < 5 * value.standard_error
        assert value.standard_error > truth.standard_error


def same(found, exact, measures):
    np.testing.assert_allclose(found.raw, exact.raw, rtol=0, atol=1e-6)
    for measure in measures:
        assert measure(found).value == pytest.approx(measure(exact).value, abs=1e-9)


def agree(estimate, exact):
    np.testing.assert_array_equal(estimate.raw, exact.raw)
    np.testing.assert_allclose(estimate.probabilities, exact.probabilities, atol=1e-12)
    assert estimate.median == exact.median
    assert estimate.restricted_mean(24).value == pytest.approx(exact.restricted_mean(24).value, abs=1e-9)


@pytest.fixture
def forked(tmp_path, monkeypatch):
    """Processes of studies are forked, and not started anew."""
    path, started = program(tmp_path), subprocess.Popen
    monkeypatch.setattr(
        "ogive.demo.banks.subprocess.Popen",
        lambda command, **options: started(
            [path, *command[3:]] if command[:3] == [sys.executable, "-m", "ogive"] else command, **options
        ),
    )


def test_three_hospitals_release_survival_and_concordance_over_https_though_one_is_killed(tmp_path, forked):
    tables = {name: patients(number, rows) for number, (name, rows) in enumerate(HOSPITALS.items())}
    together = pooled(tables)
    exact = release(ASKED, trust=Clear(together))
    assert 0 < exact(24) < exact(12) < 1
    survival, concordance = of_study(tmp_path / "study", tables, "south", ("survival", "concordance"))
    agree(survival[0], exact)
    noisy, curator = survival[1], release(ASKED, trust=Central(together), privacy=PureDP(1))
    assert np.abs(noisy.raw - exact.raw).max() > 0
    at = np.arange(2, 21)
    # one who colludes takes a part of the noise away, so the others add a little more than a curator would
    errors = [np.array([each.number(time).standard_error for time in at]) for each in (noisy, curator)]
    assert (errors[0] > errors[1]).all()
    assert (errors[0] < 1.5 * errors[1]).all()
    assert (np.abs(noisy(at) - exact(at)) < 5 * errors[0]).all()
    indices = (
        lambda each: each.harrell(),
        lambda each: each.uno(24),
        lambda each: each.auc(12),
        lambda each: each.brier(),
        lambda each: each.mean_calibration(),
    )
    exact = release(INDICES, trust=Clear(together))
    assert exact.harrell().value > 0.7
    same(concordance[0], exact, indices)
    near(concordance[1], exact, indices)


def test_five_banks_release_the_validation_of_two_models_over_https_though_one_is_killed(tmp_path, forked):
    tables = {name: customers(number, rows) for number, (name, rows) in enumerate(BANKS.items())}
    exact = release(JUDGED, trust=Clear(pooled(tables)))
    ((found, noisy),) = of_study(tmp_path / "study", tables, "bank-3", ("validate",))
    measures = [
        partial(ValidationEstimate.measure, name=name) for name in ("brier", "auc", "slope", "intercept", "prevalence")
    ]
    measures.append(partial(ValidationEstimate.measure, name="net_benefit", threshold=0.3))
    assert exact.measure("auc").value - exact.second.measure("auc").value > 0.05
    for one, other, truth in ((found, noisy, exact), (found.second, noisy.second, exact.second)):
        same(one, truth, measures)
        near(other, truth, measures)


def test_two_servers_release_survival_of_what_people_uploaded(tmp_path):
    people = 60
    table = patients(1, people)
    words = {"name": "survival", "statistic": "survival", "time": "'months'", "event": "'died'", "bounds": "[0, 24]"}
    words |= {"grid": "'integers'", "method": "'tree_ls'", "privacy": f"{{ epsilon = {ALMOST_EXACT} }}"}
    with servers_study.Trial(
        tmp_path / "trial", people=people, releases=(words,), budget="{ epsilon = 500 }", records=people
    ) as trial:
        trial.upload(table)
        estimate = trial.release("survival")
    assert (estimate.provenance.trust, estimate.total) == ("servers", people)
    agree(estimate, release(ASKED, trust=Clear(table)))


def test_what_is_exact_here_tells_another_estimate_from_the_right_one():
    table = patients(1, 60)
    exact = release(ASKED, trust=Clear(table))
    other = release(replace(ASKED, censored=1, causes=(0,)), trust=Clear(table))
    with pytest.raises(AssertionError):
        agree(other, exact)


# --- From reports


def reported(statistic, table, epsilon, key=bytes(32)):
    return release(statistic, trust=Local(table), privacy=PureDP(epsilon), source=KeyedSource(key))


@pytest.mark.parametrize(
    "statistic",
    [
        Survival("months", "died", (0, 24), grid="integers"),
        Survival("months", "died", (0, 24), bins=8, method="reports"),
        # of three classes, and of a hierarchy with places beyond the last time
        Survival("months", "cause", (0, 24), grid="integers", causes=("heart", "other"), censored="left"),
    ],
    ids=["months", "bins", "causes"],
)
def test_reports_of_owners_are_as_near_as_they_say_and_nearer_with_less_privacy(statistic):
    table = patients(4, 20_000)
    cause = np.where(np.random.default_rng(4).random(20_000) < 0.7, "heart", "other")
    table["cause"] = np.where(table["died"] == 1, cause, "left")
    exact = release(replace(statistic, method="auto"), trust=Clear(table))
    widths = []
    for epsilon in (1, 8):
        found = reported(statistic, table, epsilon)
        at = found.timeline[: found.estimable]
        assert found.last_time >= 15
        errors = np.array([found.number(time).standard_error for time in at[1:]])
        assert (np.abs(found(at[1:]) - exact(at[1:])) < 5 * errors + 0.005).all()
        for curve, other in zip(found.curves, exact.curves, strict=True):
            deviations = np.sqrt(curve.strategy.variance(total_known=False))
            assert (np.abs(curve.raw - other.raw) < 6 * deviations).all()
        assert (found.total, found.provenance.trust, found.provenance.price) == (20_000, "local", PureDP(epsilon))
        assert read_estimate(found.to_dict()) == found
        widths.append(errors[:10].mean())
    assert widths[1] < widths[0] / 3
    assert np.array_equal(reported(statistic, table, 1).raw, reported(statistic, table, 1).raw)


def test_a_report_is_made_on_a_device_and_is_about_one_time_and_what_ended_it():
    table = patients(5, 500)
    table["months"][:3] = 5_000, 24, 25
    description = describe_collection(
        Survival("months", "died", (0, 24), grid="integers", missing="high"), privacy=PureDP(40), participants=500
    )
    assert "'died', which of 0, 1 it is" in description.words
    asked = "'months', from 0.0 to 24.0, in 25 bins and 11 for values above; values outside are counted as above the "
    assert (
        f"{asked}upper bound, or not accepted if they are below the lower one, a missing value is counted as above"
        in description.words
    )
    assert "e+" not in description.words
    with pytest.raises(DataError, match=r"outside 0\.0 to 24\.0, which"):
        Randomizer(description).reports({"months": [-1.0], "died": [1]})
    assert [column.column for column in description.domain.columns] == ["died", "months"]
    symbols = description.domain.symbols(np.array([[0, 5_000.0], [0, 24], [1, 25]]))
    size = description.domain.columns[1].size
    assert symbols.tolist() == [25, 24, size + 25]
    assert description.domain.columns[1].substitute == description.domain.columns[1].grid.thresholds[25]
    collection = Collection(description)
    collection.add(Randomizer(description).reports(table))
    found = estimate_collection(collection)
    exact = release(ASKED, trust=Clear(table))
    assert found.total == 500
    # each of the levels asks some of the owners
    assert np.abs(found(np.arange(15)) - exact(np.arange(15))).max() < 0.2


def test_only_owners_report():
    table = patients(6, 100)
    reports = replace(ASKED, method="reports")
    for trust in (Central(table), SecAgg([table, patients(7, 100)])):
        with pytest.raises(UnsupportedError, match="randomizes"):
            release(reports, trust=trust, privacy=PureDP(1))
    with pytest.raises(UnsupportedError, match="sees records"):
        release(ASKED, trust=Local(table), privacy=PureDP(1))
