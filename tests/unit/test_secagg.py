"""Several parties whose sum alone is seen: noise, leaving, resuming, refusals, and the measured errors of sites."""

import csv
import dataclasses
import gzip

import numpy as np
import pytest
from helpers.plain_sums import PlainSession

import ogive
from ogive.crypto.aggregation import AggregationParty, Round
from ogive.errors import DataError, ParameterError, PeerError, ReleaseMismatchError
from ogive.noise import DiscreteGaussian, DiscreteLaplace, KeyedSource, Skellam
from ogive.noise.laws import largest_share, noise_bound, share_of
from ogive.privacy import Adjacency, PureDP, ZeroConcentratedDP
from ogive.queries import CurveQuery
from ogive.strategies import LeastSquaresTree, design_hats, design_path, design_projection, design_tree
from ogive.trust import Central, Clear, SecAgg
from ogive.trust.secagg import SecAggOptions
from ogive.trust.secagg import model as opening_module
from ogive.trust.secagg import terms as contribution_module
from ogive.trust.secagg.terms import AggregationTerms

BINS = 64
WISH = ogive.Ecdf("x", (0, 100), bins=BINS)
HATS = design_hats(BINS, privacy=PureDP(1), adjacency=Adjacency.REPLACE)
QUERY = CurveQuery(WISH.binning(), HATS)
SOURCE = KeyedSource.from_seed


def parties(sizes=(300, 200, 500), seed=1):
    rng = np.random.default_rng(seed)
    return [{"x": rng.normal(50, 15, size)} for size in sizes]


def opening(tables=None, seed=1, **options):
    return SecAgg(tables or parties(), **{"colluding": 0} | options).open(Adjacency.REPLACE, source=SOURCE(seed))


@pytest.fixture
def plain_sums(monkeypatch):
    """For statistics of the noise: sums added up in the open, which are the same and quicker."""
    monkeypatch.setattr(opening_module, "Session", PlainSession)


def test_masks_cancel_and_the_sum_is_all_records_plus_shares_that_make_up_the_noise():
    tables = parties()
    whole = {"x": np.concatenate([table["x"] for table in tables])}
    exact = Clear(whole).open(Adjacency.REPLACE, source=SOURCE(1)).answer(QUERY)
    found = opening(tables).answer(QUERY)
    assert found.totals == exact.totals == (1000,)
    assert found.adding == found.honest
    noise = found.values - exact.values
    scale = np.concatenate([np.full(level.nodes, np.sqrt(level.law.variance)) for level in HATS.levels])
    assert 0.7 < np.sqrt(np.mean((noise / scale) ** 2)) < 1.3


def test_noise_of_the_sum_follows_the_law_over_many_releases(plain_sums):
    granted = ZeroConcentratedDP("0.001")
    query = CurveQuery(WISH.binning(), design_tree(BINS, privacy=granted, adjacency=Adjacency.REPLACE))
    tables = parties()
    exact = query.measure(np.sum([SecAgg(tables).parties[k].aggregate(query.aggregate) for k in range(3)], axis=0))
    for colluding, spread in ((0, 1), (2, 3)):
        noise = np.array(
            [opening(tables, seed, colluding=colluding).answer(query).values - exact for seed in range(60)]
        )
        scale = np.concatenate([np.full(level.nodes, np.sqrt(level.law.variance)) for level in query.levels])
        # 60 x 90 draws or so: the mean square is known to about 2 percent
        assert np.mean((noise / scale) ** 2) == pytest.approx(spread, rel=0.1)


@pytest.mark.parametrize(("rho", "kind"), [(20, Skellam), (3, DiscreteGaussian)])
@pytest.mark.parametrize("dropouts", [0, 1])
def test_narrow_gaussian_noise_of_the_sum_has_the_variance_that_is_stated(plain_sums, rho, kind, dropouts):
    strategy = design_tree(BINS, privacy=ZeroConcentratedDP(rho), adjacency=Adjacency.REPLACE)
    query, tables = CurveQuery(WISH.binning(), strategy), parties()
    assert kind in {type(share_of(level.law, 3 - dropouts)) for level in strategy.levels}
    exact = query.measure(np.sum([SecAgg(tables).parties[k].aggregate(query.aggregate) for k in range(3)], axis=0))
    answers = [opening(tables, seed, dropouts=dropouts).answer(query) for seed in range(60)]
    stated = answers[0].noise_of(strategy)
    assert stated != strategy
    scale = np.concatenate([np.full(level.nodes, np.sqrt(level.law.variance)) for level in stated.levels])
    noise = np.array([answer.values - exact for answer in answers])
    assert np.mean((noise / scale) ** 2) == pytest.approx(1, rel=0.1)


@pytest.mark.parametrize("step", ["keys", "shares", "input", "confirm", "unmask"])
def test_a_party_may_leave_at_every_step_and_counts_if_its_vector_came(step):
    tables = parties()
    trust = SecAgg(tables, colluding=0, dropouts=1, leaving={2: step})
    assert trust.honest == 2
    answer = trust.open(Adjacency.REPLACE, source=SOURCE(1)).answer(QUERY)
    counted = step in ("confirm", "unmask")
    held = tables if counted else [tables[0], tables[2]]
    whole = {"x": np.concatenate([table["x"] for table in held])}
    exact = Clear(whole).open(Adjacency.REPLACE, source=SOURCE(1)).answer(QUERY)
    assert answer.totals == exact.totals == ((1000,) if counted else (800,))
    assert answer.adding / answer.honest == (1.5 if counted else 1)
    assert np.abs(answer.values - exact.values).max() < 500


@pytest.mark.parametrize(
    ("leaving", "words"),
    [
        ({2: "keys"}, "2 of 3 parties answered the step keys, and at least 3 are needed"),
        ({2: "shares"}, "2 of 3 parties answered the step shares, and at least 3 are needed"),
        ({2: "input"}, "2 of 3 parties answered the step input, and at least 3 are needed"),
        ({2: "confirm", 1: "confirm"}, "1 of 3 parties answered the step confirm, and at least 2 are needed"),
        ({2: "unmask", 1: "confirm"}, "1 of 3 parties answered the step unmask, and at least 2 are needed"),
    ],
)
def test_if_more_leave_than_was_counted_on_there_is_no_sum(leaving, words):
    trust = SecAgg(parties(), colluding=0, leaving=leaving)
    with pytest.raises(PeerError, match=words):
        ogive.release(WISH, trust=trust, privacy=PureDP(1))


def test_a_party_that_leaves_between_two_measurements_ends_the_release():
    wish = ogive.Quantiles("x", (0.5,), bounds=(0, 100), bins=64, method="bisection")
    trust = SecAgg(parties(), dropouts=1)
    started = trust.open(Adjacency.REPLACE, source=SOURCE(1))
    first = started.answer(QUERY)
    other = CurveQuery(WISH.binning(), design_tree(BINS, privacy=PureDP(1), adjacency=Adjacency.REPLACE))
    started._leaving[2] = Round.INPUT
    with pytest.raises(PeerError, match=r"party 2 left after its records were in a sum .* start a new"):
        started.answer(other)
    # whoever was gone at the first measurement stays out of all
    late = SecAgg(parties(), dropouts=1, leaving={2: "input"}).open(Adjacency.REPLACE, source=SOURCE(1))
    assert late.answer(QUERY).totals == (800,)
    late._leaving.clear()
    assert late.answer(other).totals == (800,)
    assert first.totals == (1000,)
    found = ogive.release(wish, trust=SecAgg(parties(), dropouts=1, leaving={1: "shares"}), privacy=PureDP(1))
    assert found.provenance.total == 700


def test_who_is_in_the_sum_is_settled_before_anything_is_paid_or_opened():
    tables = parties()
    with ogive.Ledger.open() as ledger:
        account = ledger.account("sites", unit=ogive.PrivacyUnit(Adjacency.REPLACE), limit=PureDP(2))
        terms = {"privacy": PureDP(1), "ledger": account}
        with pytest.raises(PeerError, match="at least 3 are needed"):
            ogive.release(WISH, trust=SecAgg(tables, leaving={1: "input"}), **terms)
        assert account.remaining == PureDP(2)
        # the spend is made, nothing was published: others in the sum, or the same ones
        with pytest.raises(PeerError, match="at least 2 are needed"):
            ogive.release(WISH, trust=SecAgg(tables, dropouts=1, leaving={1: "unmask", 3: "confirm"}), **terms)
        assert account.remaining == PureDP(1)
        with pytest.raises(ReleaseMismatchError, match="the parties or the uploads changed"):
            ogive.release(WISH, trust=SecAgg(tables, dropouts=1, leaving={1: "input"}), **terms)
        done = ogive.release(WISH, trust=SecAgg(tables, dropouts=1), **terms)
        assert done.total == 1000
        assert account.remaining == PureDP(1)


def test_parties_themselves_refuse_a_second_sum_of_a_release_without_one_of_them():
    started = opening(parties((300, 200, 500, 100)), colluding=1, dropouts=1)
    assert started.answer(QUERY).totals == (1100,)
    # as a server would that forgets, on purpose, who was in the first sum
    started._included, started._leaving = None, {2: Round.INPUT}
    with pytest.raises(PeerError, match="who is in the sum is not that of an earlier sum"):
        started.answer(QUERY)
    started._included, started._leaving = None, {}
    assert started.answer(QUERY).totals == (1100,)


def test_the_digest_of_the_study_tells_whatever_is_public_and_the_release_apart():
    strategy = design_path(BINS, privacy=PureDP(1), adjacency=Adjacency.REPLACE)
    other = design_path(BINS, privacy=PureDP(2), adjacency=Adjacency.REPLACE)
    binnings = [
        ogive.Ecdf(column, bounds, bins=BINS, **more).binning()
        for column, bounds, more in (
            ("x", (0, 100), {}), ("age", (0, 100), {}), ("x", (0, 101), {}), ("x", (0, 100), {"missing": "low"}),
        )
    ]  # fmt: skip
    queries = [CurveQuery(each, strategy) for each in binnings]
    queries += [CurveQuery(binnings[0], strategy, points) for points in ((), (3,), (3, 4))]
    queries.append(CurveQuery(binnings[0], other))
    first, second = opening(), opening(seed=2)
    digests = [each._study(query) for each in (first, second) for query in queries]
    digests.append(SecAgg(parties()).resume(Adjacency.ADD_OR_REMOVE, secret=first.secret)._study(queries[0]))
    assert len(set(digests)) == 2 * len(queries) + 1
    again = SecAgg(parties((5, 6, 7))).resume(Adjacency.REPLACE, secret=first.secret)
    assert again._study(queries[0]) == digests[0], "and holds nothing that is secret"


@pytest.mark.parametrize(("sites", "epsilon"), [(2, "0.1"), (3, "0.1"), (5, "0.1"), (2, 1), (3, 1)])
def test_a_site_that_reads_the_release_loses_others_no_more_than_is_stated(sites, epsilon):
    """Exactly: it takes away its own share, and what is left hides a record that moves from one bin to another."""
    law = DiscreteLaplace(2 / PureDP(epsilon).epsilon)
    reach = 40 * int(law.scale + 1)

    def loss(colluding):
        share = np.exp(
            share_of(law, AggregationTerms(sites, colluding).honest).log_probability(np.arange(-reach, reach + 1))
        )
        seen = share
        for _ in range(sites - 2):
            seen = np.convolve(seen, share)
        middle = len(seen) // 2
        near = seen[middle - reach // 4 : middle + reach // 4 + 1]
        return 2 * np.abs(np.diff(np.log(near))).max()

    stated = float(PureDP(epsilon).epsilon)
    assert AggregationTerms(sites, 1) == SecAgg(parties((3,) * sites)).options.terms
    assert loss(1) == pytest.approx(stated, rel=1e-6)
    assert loss(0) > 1.6 * stated, "the control: what counting on nobody would give away"


def test_points_of_one_measurement_share_its_noise_and_are_sums_of_their_own(tmp_path):
    tables = parties()
    trust = SecAgg(tables, dropouts=1)
    wish = dataclasses.replace(WISH, method="path")
    state = tmp_path / "curve.state"
    curve = ogive.PointwiseCurve.open(wish, trust=trust, privacy=PureDP(5), state=state)
    values = [30.0, 50.0, 70.0]
    first = [curve(value) for value in values]
    whole = np.concatenate([table["x"] for table in tables])
    for value, share in zip(values, first, strict=True):
        assert share == pytest.approx(np.mean(whole <= value), abs=0.05)
    again = ogive.PointwiseCurve.resume(state, trust=SecAgg(tables, dropouts=1))
    assert [again(value) for value in reversed(values)] == first[::-1]
    with pytest.raises(ReleaseMismatchError):
        ogive.PointwiseCurve.resume(state, trust=SecAgg(tables, dropouts=1, leaving={2: "input"}))
    # whole and single points may wait to be opened at the same time
    started = trust.open(Adjacency.REPLACE, source=SOURCE(4))
    strategy = design_path(BINS, privacy=PureDP(5), adjacency=Adjacency.REPLACE)
    queries = [CurveQuery(WISH.binning(), strategy, points) for points in (None, (3,), (4,), (3, 4))]
    assert len({started.context(query) for query in queries}) == 1
    opened = [started.answer(query).values for query in queries]
    assert [part.tolist() for part in opened[1:]] == [
        opened[0][[3]].tolist(),
        opened[0][[4]].tolist(),
        opened[0][3:5].tolist(),
    ]


def test_masks_are_fresh_and_noise_is_not_when_a_release_goes_on(monkeypatch):
    sent = []

    def spying(party, data, vector):
        sent.append((vector.tobytes(), kept(party, data, vector)))
        return sent[-1][1]

    kept = AggregationParty.mask
    monkeypatch.setattr(AggregationParty, "mask", spying)
    trust = SecAgg(parties())
    first = trust.open(Adjacency.REPLACE, source=SOURCE(1))
    answers = [
        first.answer(QUERY),
        first.answer(QUERY),
        trust.resume(Adjacency.REPLACE, secret=first.secret).answer(QUERY),
    ]
    assert all(np.array_equal(answer.values, answers[0].values) for answer in answers)
    assert len({vector for vector, _ in sent}) == 3
    assert len({data for _, data in sent}) == 9


def test_numbers_that_might_not_fit_are_refused_at_the_party(monkeypatch):
    monkeypatch.setattr(contribution_module, "largest_share", lambda laws, *, parties, honest: 250)
    with pytest.raises(DataError, match=r"^party 1: its numbers go beyond 250, "):
        opening().answer(QUERY)


@pytest.mark.parametrize(
    ("law", "adding", "honest"),
    [
        (DiscreteLaplace(40), 1, 1), (DiscreteLaplace(40), 7, 3), (DiscreteLaplace(3), 100, 1),
        (DiscreteGaussian(40), 5, 5), (DiscreteGaussian(40), 10, 2), (DiscreteGaussian(3), 4, 2),
    ],
)  # fmt: skip
def test_noise_stays_below_its_bound_but_for_a_chance_of_2_to_the_minus_64(law, adding, honest):
    bound = noise_bound([law], adding=adding, honest=honest)
    values = np.arange(-2 * bound, 2 * bound + 1)
    share = np.exp(share_of(law, honest).log_probability(values))
    # the characteristic function of the sum of `adding` shares, with values wrapped far beyond the bound
    total = np.fft.fftshift(np.fft.ifft(np.fft.fft(np.fft.ifftshift(share / share.sum())) ** adding).real)
    outside = np.abs(values) > bound
    assert total[outside].sum() < 1e-11, "floating point cannot see 2^-64 itself"
    # a bound of an eighth of that a variable is too small, which it can see
    assert total[np.abs(values) > bound // (8 * -(-adding // honest))].sum() > 2.0**-40


@pytest.mark.parametrize(
    ("terms", "threshold"),
    [
        ((5, 1), 4),
        ((5, 0), 3),
        ((5, 2), 4),
        ((5, 0, 2), 3),
        ((5, 0, 3), 2),
        ((2, 1), 2),
        ((3, 1, 1), 2),
        ((4, 0, 0, 4), 4),
    ],
)
def test_as_few_open_the_sum_as_are_safe_and_no_more_than_will_stay(terms, threshold):
    agreed = AggregationTerms(*terms)
    keys = [bytes([number]) * 32 for number in range(6)]
    found = agreed.settings(
        study=bytes(32), release=bytes(32), parties=keys[: terms[0]], server=keys[5], length=1, totals=0
    )
    assert found.threshold == threshold
    assert found.confirmed == (2 * threshold > terms[0] + agreed.colluding)


def test_more_than_500_parties_share_masks_with_some_others_only():
    keys = [number.to_bytes(32, "big") for number in range(601)]
    found = {}
    for parties in (500, 600):
        terms = AggregationTerms(parties, colluding=20, dropouts=20)
        found[parties] = terms.settings(
            study=bytes(32), release=bytes(32), parties=keys[:parties], server=keys[600], length=1, totals=0
        )
        assert ("The server follows the protocol" in terms.assumption()) == (parties == 600)
    assert (found[500].neighbours, found[500].confirmed) == (None, True)
    assert found[600].neighbours < 60
    assert not found[600].confirmed
    with pytest.raises(ParameterError, match=r"of more than 500 parties .* leave it out"):
        AggregationTerms(600, 1, wanted=400)
    with pytest.raises(ParameterError, match="600 parties cannot spare 300 that leave where 200 may collude"):
        AggregationTerms(600, colluding=200, dropouts=300)


def test_so_much_noise_that_a_sum_might_wrap_is_refused():
    law = DiscreteLaplace(2**47)
    assert largest_share([law], parties=3, honest=3) > 2**60
    assert largest_share([law], parties=10_000, honest=1) < 0
    options = SecAggOptions(parties=500, colluding=499)
    wide = LeastSquaresTree(1024, blocks=(1, 4, 16, 64, 256), laws=(law,) * 5)
    binning = ogive.Ecdf("age", bounds=(0, 1024), bins=1024).binning()
    assert "might not fit in 64 bits" in options.refusal(CurveQuery(binning, wide))
    assert SecAggOptions(parties=3).refusal(CurveQuery(binning, wide)) is None


def test_the_same_secret_gives_the_same_answer_and_another_party_another_context():
    tables = parties()
    first = opening(tables, colluding=1)
    again = SecAgg(tables).resume(Adjacency.REPLACE, secret=first.secret)
    assert np.array_equal(first.answer(QUERY).values, again.answer(QUERY).values)
    assert first.context(QUERY) == again.context(QUERY)
    moved = [tables[1], tables[0], tables[2]]
    fewer = SecAgg(tables, colluding=2).resume(Adjacency.REPLACE, secret=first.secret)
    for other in (SecAgg(moved).resume(Adjacency.REPLACE, secret=first.secret), fewer):
        assert other.context(QUERY) != first.context(QUERY)


def test_a_ledger_charges_once_and_a_question_asked_again_is_free():
    with ogive.Ledger.open() as ledger:
        account = ledger.account("sites", unit=ogive.PrivacyUnit(Adjacency.REPLACE), limit=PureDP(2))
        terms = {"trust": SecAgg(parties()), "privacy": PureDP(1), "ledger": account}
        first = ogive.release(WISH, **terms)
        assert ogive.release(WISH, **terms) == first
        assert account.remaining == PureDP(1)
        assert first.provenance.trust == "secagg"


def test_fewer_honest_parties_cost_the_same_and_widen_error_and_band():
    tables = parties((4000, 4000, 4000, 4000))
    curves = [
        ogive.release(WISH, trust=SecAgg(tables, colluding=colluding), privacy=PureDP("0.2"), source=SOURCE(3))
        for colluding in (0, 3)
    ]
    assert curves[0].provenance.price == curves[1].provenance.price
    assert curves[1].rmse() == pytest.approx(2 * curves[0].rmse(), rel=0.01)
    widths = [curve.band(0.95, target="sample").half_width for curve in curves]
    assert widths[1] == pytest.approx(2 * widths[0], rel=0.1)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("seed", range(3))
def test_every_statistic_that_asks_for_sums_knows_how_much_noise_there_is(seed):
    rng = np.random.default_rng(seed)
    tables = [{"p": (p := rng.beta(1, 4, 4000)), "y": (rng.random(4000) < p).astype(int)} for _ in range(4)]
    source = SOURCE(seed)
    for wish, width in (
        (ogive.Roc("p", "y", bounds=(0, 1), bins=32), lambda roc: np.ptp(roc.auc_interval(0.95))),
        (ogive.Quantiles("p", (0.5,), bounds=(0, 1), bins=512, method="bisection"), lambda q: q.high[0] - q.low[0]),
        (ogive.HosmerLemeshow("p", "y", groups=4, bins=32), lambda fit: np.ptp(fit.groups[0].interval)),
    ):
        full, alone = (
            ogive.release(wish, trust=SecAgg(tables, colluding=colluding), privacy=PureDP("0.1"), source=source)
            for colluding in (0, 3)
        )
        assert width(alone) > 1.1 * width(full), wish.name


def test_one_persons_rows_are_bounded_at_every_party():
    tables = [{"x": np.full(30, 50.0), "who": np.repeat(np.arange(10), 3)} for _ in range(2)]
    trust = SecAgg(tables, person="who", max_rows_per_person=2)
    unit = trust.unit(Adjacency.ADD_OR_REMOVE)
    assert (unit.person, unit.max_rows_per_person) == ("who", 2)
    assert SecAgg(tables, person="who").count() == 20
    query = CurveQuery(WISH.binning(), design_hats(BINS, privacy=PureDP(50), adjacency=Adjacency.ADD_OR_REMOVE))
    values = trust.open(Adjacency.ADD_OR_REMOVE, source=SOURCE(1)).answer(query).values
    assert values[: BINS + 1].max() == pytest.approx(40, abs=4)


class Whole:
    """A query that only somebody who sees all records can answer."""

    kind = "curator"
    method = "noisy maximum"
    aggregate = WISH.binning()
    measurement = "place"
    levels = ()

    def price(self, unit):
        return PureDP(1)

    def answer(self, sums, nodes):
        return sums

    def totals(self, sums, adjacency):
        return None

    def digest(self, sums, adjacency):
        return b""


def test_what_does_not_add_up_is_refused_with_what_would_work():
    trust = SecAgg(parties())
    assert trust.refusal(QUERY) is None
    assert "noisy maximum needs all records in one place" in trust.refusal(Whole())
    assert "use trust central, or a method whose answers add up" in trust.refusal(Whole())
    tables = [{"x": np.array([1.0, 2]), "y": np.array(["yes", "no"])}, {"x": np.array([3.0]), "y": np.array(["yes"])}]
    wish = ogive.Roc("x", "y", bounds=(0, 4), bins=4, positive="yes")
    with pytest.raises(ParameterError, match="say the negative class, for example negative='no'"):
        ogive.release(wish, trust=SecAgg(tables), privacy=PureDP(1))


@pytest.mark.parametrize(
    ("given", "options", "message"),
    [
        (parties()[:1], {}, "2 to 10000 parties, .* use Central"),
        (3, {}, r"write trust=ogive.Simulation\(ogive.SecAgg, parties=3\)"),
        ({"x": [1]}, {}, "parties must be a list"),
        (parties(), {"colluding": -1}, "colluding must be a whole number from 0 to 2, got -1"),
        (parties(), {"dropouts": 3}, "dropouts must be a whole number from 0 to 2, got 3"),
        (parties(), {"colluding": 1.5}, r"from 0 to 2, got 1\.5"),
        (parties(), {"colluding": 2, "dropouts": 1}, "leave none of 3 parties honest"),
        (parties(), {"threshold": 1}, "threshold must be from 3 to 3 here, got 1"),
        (parties()[:2], {"dropouts": 1}, "colluding=1 and dropouts=1 leave none of 2 parties honest"),
        (parties(), {"threshold": 3, "dropouts": 1}, "threshold must be from 2 to 2 here, got 3"),
        (parties(), {"threshold": True}, "threshold must be a whole number, got True"),
        (parties(), {"leaving": {4: "input"}}, "leaving must be like"),
        (parties(), {"leaving": {1: "later"}}, "one of the steps keys, shares, input, confirm, unmask; got 1: 'later'"),
    ],
)
def test_parties_that_make_no_sense_are_refused(given, options, message):
    with pytest.raises(ParameterError, match=message):
        SecAgg(given, **options)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "At least 2 of the 3 parties add"),
        ({}, "knows its own noise and therefore counts as colluding."),
        ({"colluding": 0}, "All of the 3 parties add their"),
        ({"colluding": 0}, "No party may read the release"),
        ({"colluding": 2}, "At least 1 of the 3 part"),
        ({"colluding": 1, "dropouts": 1}, "The server follows the protocol."),
    ],
)
def test_a_release_says_how_many_honest_parties_its_guarantee_takes(options, words):
    trust = SecAgg(parties(), **options)
    assert ("The server follows" in trust.assumption) == (len(options) == 2)
    curve = ogive.release(WISH, trust=trust, privacy=PureDP(1))
    assert words in curve.provenance.assumption
    assert words in str(ogive.Curve.from_json(curve.to_json()))


def test_an_answer_that_counted_on_fewer_who_collude_is_asked_anew_by_who_counts_on_more():
    with ogive.Ledger.open() as ledger:
        account = ledger.account("sites", unit=ogive.PrivacyUnit(Adjacency.REPLACE), limit=PureDP(2))
        tables = parties()
        first, second, again = (
            ogive.release(WISH, trust=SecAgg(tables, colluding=colluding), privacy=PureDP(1), ledger=account)
            for colluding in (0, 2, 2)
        )
        assert account.remaining is None
    assert "At least 1 of the 3 parties" in second.provenance.assumption
    assert second == again
    assert second != first


def test_the_very_same_records_at_two_parties_are_refused_and_equal_ones_are_not(tmp_path):
    one = {"x": [1.0]}
    file = tmp_path / "site.csv"
    file.write_text("x\n1\n")
    for given in ([one, {"x": [2.0]}, one], [str(file), one, tmp_path / "." / "site.csv"]):
        with pytest.raises(ParameterError, match="parties 1 and 3 have the very same records"):
            SecAgg(given)
    assert SecAgg([one, {"x": [1.0]}]).count() == 2


def test_what_is_wrong_at_a_party_is_said_with_its_place():
    with pytest.raises(DataError, match=r"^party 4: the data has no column 'x'"):
        ogive.release(WISH, trust=SecAgg([*parties(), {"z": [1.0]}]), privacy=PureDP(1))
    with pytest.raises(DataError, match=r"^party 2: .* no column 'who'"):
        SecAgg([{"x": [1.0], "who": ["a"]}, {"x": [1.0]}], person="who").count()
    gap = {"x": [1.0, float("nan")]}
    with pytest.raises(DataError, match=r"^party 3: "):
        ogive.release(WISH, trust=SecAgg([*parties()[:2], gap]), privacy=PureDP(1))


EMPTY = ({"x": []}, {"x": np.array([]), "more": np.array([])})


@pytest.mark.parametrize("adjacency", Adjacency, ids=lambda each: each.value)
@pytest.mark.parametrize("empty", EMPTY, ids=["no type", "floats"])
def test_whether_a_site_has_records_does_not_show_in_whether_there_is_a_release(empty, adjacency):
    tables = parties((300, 200))
    alone, between = (
        ogive.release(WISH, trust=SecAgg(given), privacy=PureDP(100), adjacency=adjacency, source=SOURCE(1))
        for given in (tables, [tables[0], empty, tables[1]])
    )
    assert np.abs(alone.raw - between.raw).max() < 20
    assert between.total == (500 if adjacency is Adjacency.REPLACE else None)
    assert SecAgg([*tables, empty]).count() == 500
    # without any records there is a release too, unless everybody is told that there are none
    nobody = SecAgg([{"x": []}, empty])
    if adjacency is Adjacency.REPLACE:
        with pytest.raises(DataError, match="no party has any records; where their number is public"):
            ogive.release(WISH, trust=nobody, privacy=PureDP(1), adjacency=adjacency)
    else:
        found = ogive.release(WISH, trust=nobody, privacy=PureDP(1), adjacency=adjacency, source=SOURCE(1))
        assert np.abs(found.raw).max() < 200


def test_an_empty_file_of_a_site_and_one_of_persons_add_zeros(tmp_path):
    file = tmp_path / "site.csv"
    file.write_text("x,who\n")
    others = [{"x": np.full(30, 50.0), "who": np.repeat(np.arange(10), 3)} for _ in range(2)]
    trust = SecAgg([*others, file], person="who")
    assert trust.count() == 20
    found = ogive.release(WISH, trust=trust, privacy=PureDP(100), adjacency=Adjacency.REPLACE)
    assert found.total == 20
    with pytest.raises(DataError, match=r"^party 3: .* has no column 'y'"):
        ogive.release(
            ogive.Ecdf("y", (0, 1), bins=2), trust=SecAgg([{"y": [0.5]}, {"y": [0.5]}, file]), privacy=PureDP(1)
        )


@pytest.mark.parametrize("step", ["keys", "shares", "input"])
def test_nothing_is_read_of_a_site_that_left_before_its_vector(step):
    tables = [*parties(), {"other": [1.0]}]
    trust = SecAgg(tables, dropouts=1, leaving={4: step})
    assert trust.count() == 1000
    assert ogive.release(WISH, trust=trust, privacy=PureDP(1), source=SOURCE(1)).total == 1000
    with pytest.raises(DataError, match=r"^party 4: the data has no column 'x'"):
        ogive.release(WISH, trust=SecAgg(tables, dropouts=1, leaving={4: "confirm"}), privacy=PureDP(1))


def test_an_ordinary_table_is_dealt_to_many_parties():
    values = np.random.default_rng(1).normal(50, 15, size=1_000)
    model = ogive.Simulation(SecAgg, parties=200).over({"x": values})
    assert {records.count() for records in model.parties} == {5}
    with pytest.raises(ParameterError, match="has too few records to deal to 1001 parties; use fewer"):
        ogive.Simulation(SecAgg, parties=1001).over({"x": values})


def test_a_session_of_one_table_asks_to_how_many_parties_it_is_dealt():
    with pytest.raises(ParameterError, match="trust secagg needs parties, for example parties=5"):
        ogive.Session(parties()[0], limit=PureDP(1), trust=SecAgg)


# --- 10 sites, 25 000 weights


@pytest.fixture
def weights(shared_data):
    with gzip.open(shared_data("socr_height_weight.csv.gz"), "rt") as file:
        rows = list(csv.reader(file))
    column = next(number for number, name in enumerate(rows[0]) if "weight" in name.lower())
    return np.array([float(row[column]) for row in rows[1:]])


@pytest.mark.parametrize("epsilon", [pytest.param("0.1", marks=pytest.mark.everything), "1"])
def test_ten_sites_are_as_good_as_one_curator_when_only_their_sum_is_seen(epsilon, weights, plain_sums):
    """Root mean square noise of the whole curve over 600 releases each: the ratio is known to 1.5 percent."""
    privacy = ogive.ApproxDP(epsilon, 1 / len(weights) ** 1.5)
    method = design_projection(1024, privacy=privacy, adjacency=Adjacency.REPLACE, records=len(weights), degree=20)
    wish = ogive.Ecdf("w", (70, 185), method=method)
    query = CurveQuery(wish.binning(), method)
    sites = np.array_split(np.random.default_rng(1).permutation(weights), 10)
    exact = method.estimate(query.measure(Central({"w": weights}).records.aggregate(query.aggregate)), len(weights))

    def noise(trust, seed):
        answer = trust.open(Adjacency.REPLACE, source=SOURCE(seed)).answer(query)
        return np.sqrt(np.mean((method.estimate(answer.values, len(weights)) - exact) ** 2))

    def local(seed):
        released = [
            ogive.release(wish, trust=Central({"w": site}), privacy=privacy, source=SOURCE(1000 * seed + number))
            for number, site in enumerate(sites)
        ]
        return np.sqrt(np.mean((ogive.merge(*released).raw - exact) ** 2))

    runs = range(600)
    central = np.sqrt(np.mean([noise(Central({"w": weights}), seed) ** 2 for seed in runs]))
    counting, trusting = (SecAgg([{"w": site} for site in sites], colluding=colluding) for colluding in (1, 0))
    secure, least = (
        np.sqrt(np.mean([noise(together, 10_000 + seed) ** 2 for seed in runs])) for together in (counting, trusting)
    )
    apart = np.sqrt(np.mean([local(seed) ** 2 for seed in runs[:60]]))
    predicted = np.sqrt(np.mean(method.variance(total_known=True)))
    assert least == pytest.approx(central, rel=0.05)
    assert least == pytest.approx(predicted, rel=0.05)
    # where one that reads the result is counted on, nine draw what ten would
    assert secure == pytest.approx(np.sqrt(10 / 9) * predicted, rel=0.05)
    # control: noise of ten sites by themselves is ten times as much in variance
    assert apart == pytest.approx(np.sqrt(10) * predicted, rel=0.15)
