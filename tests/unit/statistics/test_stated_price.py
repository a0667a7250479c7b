"""A price or guarantee that was lowered in a file shows, wherever the noise that the file states has a price."""

import json
from fractions import Fraction

import numpy as np
import pytest

import ogive
from ogive.errors import DataError
from ogive.privacy import Adjacency, ApproxDP, PureDP, ZeroConcentratedDP
from ogive.statistics import Bounds, Boxplot, Ecdf, HosmerLemeshow, Quantiles, Roc
from ogive.statistics.kinds import read_estimate
from ogive.trust import Central, Clear, SecAgg, Simulation

RNG = np.random.default_rng(4)
ROWS = 1500
RISK = RNG.random(ROWS)
TABLE = {"age": RNG.integers(0, 100, ROWS), "risk": RISK, "ill": (RNG.random(ROWS) < RISK).astype(int)}
AGES = {"bounds": (0, 100), "bins": 32}
RISKS = {"bounds": (0, 1), "bins": 32, "negative": 0}
STATISTICS = {
    **{f"ecdf {method}": Ecdf("age", method=method, **AGES) for method in ("path", "tree_ls", "hat_ls", "histogram")},
    "ecdf adaptive": Ecdf("age", method="adaptive", expected_records=ROWS, **AGES),
    "quantiles": Quantiles("age", method="hat_ls", **AGES),
    "boxplot": Boxplot("age", expected_records=ROWS, **AGES),
    "roc": Roc("risk", "ill", method="tree_ls", **RISKS),
    "bounds": Bounds("age"),
    "calibration": HosmerLemeshow("risk", "ill", bins=32, groups=4, negative=0),
}
GRANTED = {"pure": PureDP(2), "concentrated": ZeroConcentratedDP("0.5"), "approximate": ApproxDP(2, "1e-6")}


def released(statistic, privacy, **options):
    return json.loads(ogive.release(statistic, trust=Central(TABLE), privacy=privacy, **options).to_json())


def lowered(data, *fields, by=Fraction(3, 4)):
    """The same plain data with some exact numbers of each provenance made smaller."""
    if isinstance(data, list):
        return [lowered(each, *fields, by=by) for each in data]
    if not isinstance(data, dict):
        return data
    found = {name: lowered(value, *fields, by=by) for name, value in data.items()}
    if isinstance(found.get("provenance"), dict):
        for field in fields:
            charge = found["provenance"][field]
            smaller = {name: str(Fraction(text) * by) for name, text in charge.items() if name != "type"}
            found["provenance"][field] = {**charge, **smaller}
    return found


@pytest.mark.parametrize("granted", GRANTED)
@pytest.mark.parametrize("name", STATISTICS)
def test_what_was_released_opens_and_a_lowered_price_does_not(name, granted):
    data = released(STATISTICS[name], GRANTED[granted])
    assert read_estimate(data).provenance is not None
    with pytest.raises(DataError, match=r"contradicts itself: its noise costs .*, and its stated price is"):
        read_estimate(lowered(data, "price"))
    with pytest.raises(DataError, match="contradicts itself"):
        read_estimate(lowered(data, "privacy", "price"))


@pytest.mark.parametrize("name", ["ecdf hat_ls", "roc", "calibration"])
def test_a_guarantee_below_the_price_is_refused(name):
    data = released(STATISTICS[name], PureDP(2))
    read_estimate(data)
    with pytest.raises(DataError, match="contradicts itself: it has epsilon = 1, and cost epsilon"):
        read_estimate(lowered(data, "privacy", by=Fraction(1, 2)))


def stating(data, **stated):
    """The same plain data with other fields in each provenance."""
    if isinstance(data, list):
        return [stating(each, **stated) for each in data]
    if not isinstance(data, dict):
        return data
    found = {name: stating(value, **stated) for name, value in data.items()}
    return found if found.get("provenance") is None else {**found, "provenance": {**found["provenance"], **stated}}


@pytest.mark.parametrize("adjacency", Adjacency)
@pytest.mark.parametrize("name", STATISTICS)
def test_a_guarantee_for_other_neighbors_than_the_noise_is_for_is_refused(name, adjacency):
    """One record that is replaced may cost twice what one costs that is added: under one price that is half of it."""
    data = released(STATISTICS[name], PureDP(2), adjacency=adjacency)
    other = next(each for each in Adjacency if each is not adjacency)
    with pytest.raises(DataError, match=r"contradicts itself: its guarantee hides .*, and its noise"):
        read_estimate(stating(data, adjacency=other.value))


@pytest.mark.parametrize("name", STATISTICS)
def test_exact_values_that_are_called_private_are_refused(name):
    data = json.loads(ogive.release(STATISTICS[name], trust=Clear(TABLE)).to_json())
    read_estimate(data)
    one = PureDP(1).to_dict()
    with pytest.raises(DataError, match="contradicts itself: it has epsilon = 1, and its answer is exact"):
        read_estimate(stating(data, trust="central", privacy=one, price=one))


def test_the_curve_inside_a_calibration_states_what_all_states():
    data = released(STATISTICS["calibration"], PureDP(2))
    with pytest.raises(DataError, match="the curve of this calibration is of another release"):
        read_estimate({**data, "curve": lowered(data["curve"], "price", by=Fraction(99, 100))})


def test_several_rows_of_a_person_are_priced_as_such():
    trust = Central({**TABLE, "who": np.arange(ROWS) // 2}, person="who", max_rows_per_person=3)
    found = ogive.release(
        STATISTICS["ecdf hat_ls"], trust=trust, privacy=PureDP(3), adjacency=Adjacency.ADD_OR_REMOVE
    ).to_dict()
    read_estimate(found)
    with pytest.raises(DataError, match="its noise costs"):
        read_estimate(lowered(found, "price"))
    with pytest.raises(DataError, match="its noise costs"):
        read_estimate({**found, "provenance": {**found["provenance"], "max_rows_per_person": 4}})


def test_noise_of_several_parties_may_be_worth_more_than_its_price():
    trust = Simulation(SecAgg, parties=4).over(TABLE)
    found = ogive.release(STATISTICS["ecdf hat_ls"], trust=trust, privacy=PureDP(2)).to_dict()
    assert read_estimate(found).provenance.price.epsilon > 0
    with pytest.raises(DataError, match="its noise costs"):
        read_estimate(lowered(found, "price", by=Fraction(1, 3)))


def merged(*granted):
    parts = [
        ogive.ecdf(RNG.integers(0, 100, 400), method="hat_ls", privacy=privacy, **AGES, batch=f"site {number}")
        for number, privacy in enumerate(granted)
    ]
    return json.loads(ogive.merge(*parts).to_json())


@pytest.mark.parametrize(
    "granted",
    [(PureDP(1), PureDP(2)), (PureDP("0.1"), ZeroConcentratedDP("0.5")), (PureDP(1), ApproxDP(1, "1e-6"))],
    ids=["alike", "concentrated", "approximate"],
)
def test_a_merged_price_is_that_of_its_dearest_batch(granted):
    data = merged(*granted)
    read_estimate(data)
    with pytest.raises(DataError, match="contradicts itself"):
        read_estimate(lowered(data, "price", by=Fraction(1, 2)))
    with pytest.raises(DataError, match="contradicts itself"):
        read_estimate(lowered(data, "price", "privacy", by=Fraction(1, 2)))


def test_guarantees_of_batches_cover_the_noise_of_each():
    data = lowered(merged(PureDP(1), PureDP(2)), "price", "privacy", by=Fraction(1, 2))
    for batch in data["batches"]:  # consistently lowered everywhere but in the noise itself
        batch["privacy"]["epsilon"] = "1/2"
    with pytest.raises(DataError, match="contradicts itself: the noise of the batch site 0 costs epsilon"):
        read_estimate(data)
