"""Curves of different people made one: exact sums, bookkeeping, guarantees, and every refusal."""

import dataclasses
import json
from fractions import Fraction
from importlib.resources import files

import jsonschema
import numpy as np
import pytest
from helpers.curves import PROVENANCE, exact_curve, noisy_curve

import ogive
from ogive.accounting import covers
from ogive.errors import DataError, ParameterError
from ogive.noise import KeyedSource
from ogive.privacy import Adjacency, ApproxDP, GaussianDP, PureDP, ZeroConcentratedDP
from ogive.provenance import Provenance
from ogive.statistics.curve.base import DISJOINT, dearest
from ogive.statistics.curve.estimate import Curve
from ogive.strategies import design_histogram, design_projection

SCHEMA = json.loads((files("ogive") / "schemas" / "curve-1.schema.json").read_text())
BOUNDS, BINS = (0, 100), 64
REPLACE, ADD = Adjacency.REPLACE, Adjacency.ADD_OR_REMOVE
TINY = ApproxDP(1, "1e-6")


def sample(size, seed, middle=50):
    return np.random.default_rng(seed).normal(middle, 12, size)


def released(size=1000, seed=0, *, middle=50, batch=None, **options):
    plain = {"bounds": BOUNDS, "bins": BINS, "privacy": PureDP(1), "method": "hat_ls"}
    wanted = {**plain, "source": KeyedSource.from_seed(seed), **options}
    return ogive.ecdf(sample(size, seed, middle), batch=batch, **wanted)


def projected(size=1000, seed=0, degree=8, **options):
    adjacency, bits = options.pop("adjacency", REPLACE), options.pop("bits", None)
    method = design_projection(BINS, privacy=TINY, adjacency=adjacency, degree=degree, records=size, bits=bits)
    return released(size, seed, method=method, privacy=TINY, adjacency=adjacency, **options)


# --- what the sum is


@pytest.mark.parametrize("adjacency", Adjacency)
def test_counts_noise_and_totals_add_up(adjacency):
    parts = [released(size, seed, adjacency=adjacency) for seed, size in enumerate((1000, 3000, 500))]
    whole = ogive.merge(*parts)
    assert whole.raw == pytest.approx(sum(part.raw for part in parts))
    assert whole.total == (4500 if adjacency is REPLACE else None)
    known = adjacency is REPLACE
    variance = sum(part.strategy.variance(total_known=known).mean() for part in parts)
    assert whole.rmse() * whole.records == pytest.approx(np.sqrt(variance))
    assert whole.smoothing == "shrinkage"
    truth = np.concatenate([sample(size, seed) for seed, size in enumerate((1000, 3000, 500))])
    exact = exact_curve(truth, whole.grid)
    assert whole.errors(exact)["ks"] < 0.03


@pytest.mark.parametrize("adjacency", Adjacency)
def test_projections_add_up_to_the_projection_of_all_records(adjacency):
    parts = [projected(size, seed, adjacency=adjacency) for seed, size in enumerate((2000, 6000))]
    whole = ogive.merge(*parts)
    assert whole.strategy.name == "sum_of_approximations"
    assert np.array_equal(whole.measured, sum(part.measured for part in parts))
    assert whole.strategy.estimate(whole.measured, whole.total) == pytest.approx(whole.raw)
    band = whole.band(0.95, target="sample")
    exact = exact_curve(np.concatenate([sample(2000, 0), sample(6000, 1)]), whole.grid).probabilities
    assert np.all((band.low <= exact + 1e-9) & (exact <= band.high + 1e-9))


def test_projections_with_other_fractional_bits_are_brought_to_one_scale():
    parts = [projected(2000, 0, bits=20), projected(4000, 1, bits=23), projected(1000, 2, bits=20)]
    for whole in (ogive.merge(*parts), parts[0].update(parts[2]).update(parts[1])):
        assert whole.strategy.shifts.count(3) == 2
        assert whole.strategy.estimate(whole.measured, whole.total) == pytest.approx(whole.raw, abs=1e-3)


def test_exact_curves_add_up_exactly():
    parts = [
        ogive.release(ogive.Ecdf("x", BOUNDS, bins=BINS), trust=ogive.Clear({"x": sample(500, seed)}), batch=str(seed))
        for seed in range(3)
    ]
    whole = ogive.merge(*parts)
    assert np.array_equal(whole.cumulative, sum(part.cumulative for part in parts))
    assert not whole.private
    assert whole.provenance.privacy is None
    assert "not private" in str(whole)


def test_order_and_grouping_do_not_matter():
    one, two, three = (released(1000, seed) for seed in range(3))
    whole = ogive.merge(one, two, three)
    again = one.update(two).update(three)
    assert again == whole
    turned = ogive.merge(three, one, two)
    assert turned.provenance.release_id == whole.provenance.release_id
    assert turned.raw == pytest.approx(whole.raw)
    assert ogive.merge(one, two).provenance.release_id != whole.provenance.release_id


def test_smoothing_comes_after_adding_up():
    """Control: the sum of smoothed curves is another one, and is biased where there are no records."""
    parts = [released(200, seed, middle=20, privacy=PureDP("0.05")) for seed in range(40)]
    exact = exact_curve(np.concatenate([sample(200, seed, 20) for seed in range(40)]), parts[0].grid)
    whole = ogive.merge(*parts)
    naive = sum(part.cumulative for part in parts) / 8000
    errors = [np.sqrt(np.mean((shares - exact.probabilities) ** 2)) for shares in (whole.probabilities, naive)]
    assert errors[0] < 0.6 * errors[1]


# --- who was counted


def test_batches_say_who_was_counted():
    january, february = released(1000, 1, batch="january"), released(400, 2, batch="february", privacy=PureDP("1/2"))
    assert [batch.name for batch in january.batches] == ["january"]
    year = january.update(february)
    assert [(batch.name, batch.total, batch.privacy) for batch in year.batches] == [
        ("january", 1000, PureDP(1)),
        ("february", 400, PureDP("1/2")),
    ]
    assert "january (1000), february (400)" in str(year)
    assert "january (1000)" in str(january)
    assert released(1000, 1).batches[0].name is None
    assert noisy_curve([1.0], year.grid).batches == ()


def test_many_batches_are_named_in_part():
    whole = ogive.merge(*(released(50, seed, batch=f"day {seed}") for seed in range(11)))
    assert "day 7 (50), and 3 more" in str(whole)
    assert "day 8" not in str(whole)


def test_a_private_number_of_records_is_an_estimate():
    whole = released(1000, 1, batch="a", adjacency=ADD).update(released(400, 2, batch="b", adjacency=ADD))
    assert whole.batches[0].total is None
    assert whole.batches[0].records == pytest.approx(1000, abs=30)
    assert "a (about 10" in str(whole) or "a (about 9" in str(whole)


@pytest.mark.parametrize("kind", ["sum", "mixture", "projections", "private"])
def test_json_gives_the_same_curve_back(kind):
    if kind == "projections":
        curve = ogive.merge(projected(1000, 1, batch="a"), projected(3000, 2))
    else:
        adjacency = ADD if kind == "private" else REPLACE
        parts = released(1000, 1, batch="a", adjacency=adjacency), released(2000, 2, adjacency=adjacency)
        curve = ogive.merge(*parts, weights=["1/3", "2/3"] if kind == "mixture" else None)
    text = curve.to_json()
    jsonschema.validate(json.loads(text), SCHEMA)
    assert Curve.from_json(text) == curve


def test_a_single_curve_is_stored_as_before_and_a_named_one_with_its_name():
    plain = released(100, 1)
    assert "batches" not in plain.to_dict()
    assert "batch" not in plain.to_dict()["provenance"]
    named = released(100, 1, batch="march")
    jsonschema.validate(named.to_dict(), SCHEMA)
    assert Curve.from_json(named.to_json()).provenance.batch == "march"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data: data.update(batches=[]), "list of 2 to 1000"),
        (lambda data: data.update(batches={}), "list of 2 to 1000"),
        (lambda data: data["batches"].append(data["batches"][0]), "counted twice"),
        (lambda data: data["batches"][0].pop("name"), "and nothing else"),
        (lambda data: data["batches"][0].update(release_id="Z"), "hexadecimal"),
        (lambda data: data["batches"][0].update(total=-1), "number of records or null"),
        (lambda data: data["batches"][0].update(records=-2.0), "at least 0"),
        (lambda data: data["batches"][0].update(account="ward"), "hexadecimal digits, or by null"),
        (lambda data: data["batches"][0].update(name=7), "batch's name must be a text"),
        (lambda data: data["batches"][0].update(privacy={"type": "PureDP", "epsilon": "1e99"}), "a guarantee or null"),
        (lambda data: data["batches"][0].update(privacy="PureDP"), "a guarantee or null"),
        (lambda data: data["batches"].__setitem__(0, "january"), "and nothing else"),
    ],
)
def test_damaged_batches_are_refused(change, message):
    data = ogive.merge(released(100, 1), released(100, 2)).to_dict()
    change(data)
    with pytest.raises((DataError, ParameterError), match=message):
        Curve.from_dict(data)


# --- what is guaranteed


def test_the_guarantee_is_the_dearest_batch_s_and_says_what_it_takes():
    cheap, dear = released(100, 1, privacy=PureDP("1/2")), released(100, 2, privacy=PureDP(2))
    source = ogive.merge(cheap, dear).provenance
    assert source.privacy == PureDP(2)
    assert source.price == dear.provenance.price
    assert source.assumption == dear.provenance.assumption + DISJOINT
    assert source.total == 200
    assert source.release_id not in (cheap.provenance.release_id, dear.provenance.release_id)
    again = ogive.merge(ogive.merge(cheap, dear), released(100, 3)).provenance
    assert again.assumption.count(DISJOINT) == 1


def test_trust_models_and_methods_are_named_together():
    sites = [{"value": sample(400, seed)} for seed in (5, 6)]
    wish = ogive.Ecdf("value", BOUNDS, bins=BINS, method="path")
    together = ogive.release(wish, trust=ogive.SecAgg(sites), privacy=PureDP(1))
    source = ogive.merge(together, released(100, 1, method="tree_ls")).provenance
    assert source.trust == "secagg+central"
    assert source.method == "path+tree_ls"
    assert "masked vectors" in source.assumption
    assert "curator" in source.assumption


CHARGES = [
    PureDP(1),
    PureDP("1/4"),
    ZeroConcentratedDP("1/3"),
    ApproxDP("1/2", "1e-6"),
    ApproxDP(2, "1e-9"),
    GaussianDP("1/2"),
]


@pytest.mark.parametrize("one", CHARGES, ids=str)
@pytest.mark.parametrize("other", CHARGES, ids=str)
def test_the_dearest_of_two_guarantees_covers_both(one, other):
    largest = dearest([one, other])
    assert dearest([largest]) == largest
    if isinstance(largest, GaussianDP):
        assert one == other == largest
        return
    for charge in (one, other):
        if isinstance(charge, ApproxDP):
            assert isinstance(largest, ApproxDP)
            assert largest.epsilon >= charge.epsilon
            assert largest.delta >= charge.delta
        else:
            assert covers(largest, charge)


def test_gaussian_prices_of_projections_stay_gaussian():
    source = ogive.merge(projected(1000, 1), projected(5000, 2)).provenance
    assert source.privacy == TINY
    assert isinstance(source.price, GaussianDP)
    assert covers(source.privacy, source.price)


def test_a_mixed_price_is_stated_as_what_was_granted():
    source = ogive.merge(
        released(100, 1), released(100, 2, privacy=ZeroConcentratedDP("0.1"), method="sqrt")
    ).provenance
    assert source.privacy == source.price == ZeroConcentratedDP("0.5")
    # in zCDP the two prices below would be 0.5, which the guarantee of both does not cover
    gaussian = released(100, 2, privacy=TINY, method="sqrt")
    assert isinstance(gaussian.provenance.price, ZeroConcentratedDP)
    source = ogive.merge(released(100, 1), gaussian).provenance
    assert source.privacy == source.price == TINY


# --- mixtures


def test_weights_make_a_mixture_of_shares():
    north, south = released(4000, 1, middle=30), released(1000, 2, middle=70)
    even = ogive.merge(north, south, weights=(0.5, 0.5))
    shares = (north.raw / 4000 + south.raw / 1000) / 2
    assert even.raw / 5000 == pytest.approx(shares)
    assert even.total == 5000
    by_size = ogive.merge(north, south, weights=(Fraction(4, 5), Fraction(1, 5)))
    plain = ogive.merge(north, south)
    assert by_size.raw == pytest.approx(plain.raw)
    assert by_size.rmse() == pytest.approx(plain.rmse())
    assert even.quantile(0.5) > plain.quantile(0.5)
    # a third can be written as a float: the rest of rounding goes nowhere
    assert ogive.merge(north, south, weights=(1 / 3, 2 / 3)).strategy.weights[0] == pytest.approx(1 / 3)


def test_a_mixture_says_that_it_is_one_and_how_much_each_curve_counts():
    parts = [released(900 + seed, seed, batch=f"site {seed}") for seed in range(10)]
    even = ogive.merge(*parts[:2], weights=(0.25, 0.75))
    assert "mixture:    site 0 0.25, site 1 0.75; records have different weights" in str(even)
    assert "mixture" in even._repr_html_()
    assert "mixture" not in str(ogive.merge(*parts[:2]))
    halves = ogive.merge(ogive.merge(*parts[:5]), ogive.merge(*parts[5:]), weights=("1/3", "2/3"))
    assert "mixture:    0.3333, 0.6667; records" in str(halves)
    many = ogive.merge(*parts, weights=[Fraction(1, 10)] * 10)
    assert "site 7 0.1, and 2 more; records" in str(many)


def test_the_band_of_a_mixture_counts_its_smallest_sample():
    # hardly any noise: what is left is chance in who was sampled
    large, small = (released(size, seed, privacy=PureDP(50)) for seed, size in enumerate((100_000, 100)))
    even = ogive.merge(large, small, weights=(0.5, 0.5))
    alone = small.band(0.95).half_width
    assert 0.4 * alone < even.band(0.95).half_width < 0.7 * alone
    # control: as one sample of all records it would be a tenth of that
    naive = dataclasses.replace(even, strategy=ogive.merge(large, small).strategy)
    assert naive.band(0.95).half_width < 0.2 * alone


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ((0.5, 0.6), "weights must add up to 1, got 1.1"),
        ((0.3, 0.3), "weights must add up to 1, got 0.6"),
        ((1.5, -0.5), r"weights must be at least 0, got -0\.5"),
        ((1,), "one number for each of the 2 curves"),
        ((0.2, 0.3, 0.5), "one number for each of the 2 curves, got 3 of them"),
        ("11", "one number for each of the 2 curves, got str"),
        (1, "one number for each of the 2 curves, got int"),
        (0.5, "got float"),
        (np.array(0.5), "got ndarray"),
        ({"north": 0.5, "south": 0.5}, "got dict"),
        ({0.25, 0.75}, "got set"),
        ((0.5, "x"), "a weight must be a number"),
        ((0.5, float("nan")), "a weight must be finite"),
    ],
)
def test_weights_that_make_no_mixture_are_refused(weights, message):
    with pytest.raises(ParameterError, match=message):
        ogive.merge(released(100, 1), released(100, 2), weights=weights)


def test_mixtures_are_offered_where_their_error_is_known():
    even = (0.5, 0.5)
    with pytest.raises(ParameterError, match="need public numbers of records"):
        ogive.merge(released(900, 1, adjacency=ADD), released(900, 2, adjacency=ADD), weights=even)
    with pytest.raises(ParameterError, match="curve 1 is an approximation"):
        ogive.merge(projected(900, 1), projected(900, 2), weights=even)
    clear = [
        ogive.release(ogive.Ecdf("x", BOUNDS, bins=4), trust=ogive.Clear({"x": sample(9, seed)})) for seed in (1, 2)
    ]
    with pytest.raises(ParameterError, match="curve 1 is exact"):
        ogive.merge(*clear, weights=even)
    mixed = ogive.merge(released(900, 1), released(900, 2), weights=even)
    with pytest.raises(ParameterError, match="curve 1 is a mixture of shares, not of counts"):
        mixed.update(released(900, 3))


# --- refusals


def test_a_batch_that_was_counted_before_is_refused():
    january, february = released(100, 1, batch="january"), released(100, 2, batch="february")
    year = january.update(february)
    with pytest.raises(ParameterError, match="'february' was counted before: it is the same release"):
        year.update(february)
    with pytest.raises(ParameterError, match="'january' was counted before"):
        ogive.merge(january, january)
    with pytest.raises(ParameterError, match="a batch named 'january' was counted before; the same people"):
        year.update(released(100, 3, batch="january"))
    with pytest.raises(ParameterError, match="was counted before"):
        year.update(february.update(released(100, 4)))
    nameless = released(100, 5)
    with pytest.raises(ParameterError, match=f"'{nameless.provenance.release_id[:8]}' was counted before"):
        ogive.merge(nameless, nameless)


REFUSED = {
    "bounds": (lambda: released(100, 2, bounds=(0, 120)), "sites with different bounds or thresholds"),
    "bins": (lambda: released(100, 2, bins=32), "sites with different bounds or thresholds"),
    "adjacency": (lambda: released(100, 2, adjacency=ADD), "adjacency replace and add_or_remove"),
    "basis": (lambda: projected(100, 2), "methods .* and projection, of which one only approximates"),
    "column": (
        lambda: ogive.release(
            ogive.Ecdf("age", BOUNDS, bins=BINS), trust=ogive.Central({"age": sample(100, 2)}), privacy=PureDP(1)
        ),
        "columns 'value' and 'age'; give the column one name",
    ),
    "exact": (
        lambda: ogive.release(ogive.Ecdf("value", BOUNDS, bins=BINS), trust=ogive.Clear({"value": sample(100, 2)})),
        "one is private and the other is exact",
    ),
    "unit": (
        lambda: ogive.release(
            ogive.Ecdf("value", BOUNDS, bins=BINS),
            trust=ogive.Central({"value": sample(100, 2), "who": np.arange(100)}, person="who"),
            privacy=PureDP(1),
        ),
        "different privacy units",
    ),
    "nothing": (lambda: noisy_curve(sample(100, 2), released().grid), "curve 2 was never released"),
    "undefined": (
        lambda: dataclasses.replace(released(100, 2, adjacency=ADD), adjacency=REPLACE, cumulative=np.zeros(BINS)),
        "curve 2 is not defined, since noise leaves no records",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_curves_that_do_not_fit_together_are_refused_in_one_line(name):
    make, message = REFUSED[name]
    with pytest.raises(ParameterError, match=message) as refusal:
        ogive.merge(released(100, 1), make())
    assert "\n" not in str(refusal.value)


def test_approximations_of_different_bases_are_refused():
    histogram = design_histogram(BINS, privacy=TINY, adjacency=REPLACE, groups=8)
    other = released(1000, 3, method=histogram, privacy=TINY)
    words = r"different bases, degrees .*\(projection basis legendre degree 8 .*; .* degree 9 .*\)"
    with pytest.raises(ParameterError, match=words):
        ogive.merge(projected(1000, 1), projected(1000, 2, degree=9))
    with pytest.raises(ParameterError, match=r"different bases, degrees .*histogram groups 8"):
        ogive.merge(projected(1000, 1), other)
    stripped = dataclasses.replace(projected(1000, 2), measured=None)
    with pytest.raises(ParameterError, match="curve 2 was kept without its measurements"):
        ogive.merge(projected(1000, 1), stripped)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"noise": "isotropic"}, "degree 8 noise shaped constants exact; .* degree 8 noise isotropic constants exact"),
        ({"noise": "moments", "constants": "paper"}, "; .* degree 8 noise moments constants paper"),
    ],
)
def test_projections_with_other_forms_of_noise_are_refused_with_what_differs(options, words):
    other = design_projection(BINS, privacy=TINY, adjacency=REPLACE, degree=8, records=1000, **options)
    with pytest.raises(ParameterError, match=words):
        ogive.merge(projected(1000, 1), released(1000, 2, method=other, privacy=TINY))


def test_adaptive_curves_are_refused_with_a_method_that_adds_up():
    with pytest.raises(ParameterError, match=r"adaptive looks at thresholds of its own .* by another"):
        ogive.merge(released(1000, 1, method="adaptive"), released(1000, 2, method="adaptive"))


def test_too_few_or_no_curves_are_refused():
    for given, message in (((), "got 0"), ((released(),), "got 1"), ((released(), 3), "got int")):
        with pytest.raises(ParameterError, match=f"give two or more released curves to merge, {message}"):
            ogive.merge(*given)


# --- names of batches


@pytest.mark.parametrize("name", ["", " ", 3, "x" * 401])
def test_a_batch_is_called_by_a_short_text(name):
    with pytest.raises(ParameterError, match="a batch's name must be a text"):
        released(100, 1, batch=name)
    with pytest.raises(ParameterError, match="a batch's name must be a text"):
        Provenance.from_dict({**PROVENANCE.to_dict(), "batch": name})


def test_three_months_under_one_budget_and_nobody_is_read_again():
    months = {name: sample(2000, seed) for seed, name in enumerate(("january", "february", "march"), 1)}
    with ogive.Session({"value": months["january"][:1]}, limit=PureDP(1), name="ward") as ward:
        wish = {"bounds": BOUNDS, "bins": BINS, "privacy": PureDP(1)}
        year = None
        for name, values in months.items():
            month = ward.part(name, {"value": values}).ecdf("value", **wish)
            assert month.provenance.batch == name
            year = month if year is None else year.update(month)
        assert [batch.name for batch in year.batches] == list(months)
        assert year.total == 6000
        assert ward.spent == PureDP(1)
        again = ward.part("march", {"value": months["march"]}).ecdf("value", **wish)
        with pytest.raises(ParameterError, match="'march' was counted before"):
            year.update(again)


def test_releases_of_one_account_are_refused_but_for_its_parts():
    wish = {"bounds": BOUNDS, "bins": BINS, "method": "hat_ls"}
    data = {"value": sample(500, 1)}
    with ogive.Session(data, limit=PureDP(3), name="ward") as ward, ogive.Session(data, limit=PureDP(3)) as town:
        first, second = (ward.ecdf("value", privacy=PureDP(size), **wish) for size in (1, "1/2"))
        named = ward.release(ogive.Ecdf("value", **wish), privacy=PureDP("1/4"), batch="again")
        parts = [
            ward.part(name, {"value": sample(300, seed)}).ecdf("value", privacy=PureDP("1/4"), **wish)
            for seed, name in enumerate(("jan", "feb"), 2)
        ]
        elsewhere = town.ecdf("value", privacy=PureDP(1), **wish)
    words = "one account paid for .* and .*, and not as two of its declared parts"
    for one, other in ((first, second), (first, named), (first, parts[0]), (parts[1], second)):
        with pytest.raises(ParameterError, match=words):
            ogive.merge(one, other)
        with pytest.raises(ParameterError, match=words):
            ogive.merge(elsewhere, one, Curve.from_json(other.to_json()))
    both = ogive.merge(*parts)
    assert ogive.merge(both, elsewhere).total == 1100
    with pytest.raises(ParameterError, match=words):
        both.update(first)
    jsonschema.validate(both.to_dict(), SCHEMA)
    assert Curve.from_json(both.to_json()) == both
    accounts = [batch.account for batch in both.batches]
    assert [account.count("/") for account in accounts] == [1, 1]
    assert len({account.split("/")[0] for account in (*accounts, first.provenance.account)}) == 1
    assert "ward" not in first.to_json()
    stored = both.to_dict()
    stored["batches"][1]["account"] = stored["batches"][0]["account"]
    with pytest.raises(DataError, match="one account paid for two of its batches"):
        Curve.from_dict(stored)


def test_the_same_records_under_another_part_are_refused_when_the_part_is_opened():
    with ogive.Session({"value": [1.0]}, limit=PureDP(1), name="ward") as ward:
        ward.part("january", {"value": sample(100, 1)}).ecdf("value", bounds=BOUNDS, privacy=PureDP(1))
        for updated in (False, True):
            with pytest.raises(ogive.LedgerError, match="records already have the account 'ward', part 'january'"):
                ward.part("february", {"value": sample(100, 1)}, updated=updated)
        ward.part("february", {"value": sample(100, 2)})


def test_a_stored_answer_takes_the_name_it_lacks_and_keeps_the_one_it_has():
    with ogive.Ledger.open() as ledger:
        account = ledger.account("ward", unit=ogive.PrivacyUnit(REPLACE), limit=PureDP(1))
        terms = {"trust": ogive.Central({"value": sample(100, 1)}), "privacy": PureDP(1), "ledger": account}
        wish = ogive.Ecdf("value", BOUNDS, bins=BINS)
        plain = ogive.release(wish, **terms)
        named = ogive.release(wish, batch="january", **terms)
        assert named.provenance == dataclasses.replace(plain.provenance, batch="january")
        part = {**terms, "ledger": ledger.account("town", unit=ogive.PrivacyUnit(REPLACE)).part("north")}
        assert ogive.release(wish, **part).provenance.batch == "north"
        with pytest.raises(ParameterError, match="the part 'north', so the batch cannot be called 'south'"):
            ogive.release(wish, batch="south", **part)


def test_a_stored_answer_is_not_renamed():
    with ogive.Ledger.open() as ledger:
        account = ledger.account("ward", unit=ogive.PrivacyUnit(REPLACE), limit=PureDP(1))
        terms = {"trust": ogive.Central({"value": sample(100, 1)}), "privacy": PureDP(1), "ledger": account}
        wish = ogive.Ecdf("value", BOUNDS, bins=BINS)
        ogive.release(wish, batch="january", **terms)
        with pytest.raises(ParameterError, match="released as batch 'january', not 'february'"):
            ogive.release(wish, batch="february", **terms)
