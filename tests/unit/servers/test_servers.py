"""Servers as a trust model: what they accept, what they refuse, and releases that go on."""

import numpy as np
import pytest
from helpers.scope import is_everything
from helpers.scope import size as size_of

import ogive
from ogive import Adjacency, Clear, Ecdf, PureDP, Servers
from ogive.columns import Binning
from ogive.columns.grids import Grid
from ogive.errors import DataError, ParameterError, ReleaseMismatchError, UnsupportedError
from ogive.noise import KeyedSource
from ogive.queries import CurveQuery
from ogive.strategies import design_path, design_projection, design_tree
from ogive.trust.modulus import check_range
from ogive.trust.servers.settings import fitting
from ogive.trust.servers.uploads import SUMS, TABLES

AGE = Ecdf("age", (0, 120), grid="integers")
KEY = bytes(range(32))


def table(seed=1, size=300):
    rng = np.random.default_rng(seed)
    return {"age": rng.integers(18, 90, size=size), "sick": rng.integers(0, 2, size=size)}


def released(trust, statistic=AGE, **terms):
    return ogive.release(statistic, trust=trust, privacy=PureDP(1), source=KeyedSource(KEY), **terms)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"servers": 1}, "servers must be a whole number from 2 to 16, got 1"),
        ({"servers": 2.0}, "servers must be a whole number"),
        ({"servers": 17}, "from 2 to 16"),
        ({"upload": "key"}, "upload must be one of auto, keys, tables, sums, got 'key'"),
        ({"upload": "keys", "servers": 3}, "comparison keys are for two servers, not 3; use upload='tables'"),
        ({"upload": "sums"}, "sums are uploaded by organizations; give a list of their tables"),
        ({"verifications": 0}, "verifications must be a whole number from 1 to 256, got 0"),
        ({"verifications": True}, "verifications must be"),
        ({"max_rows_per_person": 2}, "person"),
    ],
)
def test_options_that_cannot_be_are_refused_in_one_line(options, message):
    with pytest.raises(ParameterError, match=message) as caught:
        Servers(table(), **options)
    assert "\n" not in str(caught.value)


def test_sums_cannot_be_called_verified():
    with pytest.raises(ParameterError, match="sums of an organization cannot be verified"):
        Servers([table(1), table(2)], verified=True)
    assert not Servers([table(1), table(2)]).options.terms.verified
    assert Servers([table(1), table(2)], upload=TABLES).options.terms.verified


def test_organizations_are_told_from_one_column():
    values = table()["age"]
    assert released(Servers(values.tolist()), Ecdf("value", (0, 120), grid="integers")).total == 300
    assert released(Servers([table(1), table(2, 50)])).total == 350
    (taken,) = fitting(Servers([table(1), table(2)]).options.uploads, Binning("age", Grid.integers(0, 120)))
    assert (taken.kind, taken.verified) == (SUMS, False)
    same = table()
    with pytest.raises(ParameterError, match="parties 1 and 2 have the very same records"):
        Servers([same, same])
    with pytest.raises(DataError, match="party 2: "):
        released(Servers([table(1), {"ages": np.arange(3)}]))


def test_organizations_may_upload_a_key_or_a_table_for_every_record():
    truth = released(Clear({name: np.concatenate([table(1)[name], table(2)[name]]) for name in table()}))
    for upload in ("keys", "tables"):
        curve = released(Servers([table(1), table(2)], upload=upload))
        assert curve.total == 600
        assert abs(curve.raw - truth.raw).max() < 250


def test_a_release_goes_on_with_the_same_noise():
    statistic = Ecdf("age", (0, 120), grid="integers", method="path")
    query = CurveQuery(statistic.binning(), design_path(121, privacy=PureDP(1), adjacency=Adjacency.REPLACE))
    for options in ({}, {"upload": "tables"}, {"servers": 3}, {"upload": "keys", "verified": False}):
        trust = Servers(table(), **options)
        opening = trust.open(Adjacency.REPLACE, source=KeyedSource(KEY))
        first = opening.answer(query).values
        again = trust.resume(Adjacency.REPLACE, secret=opening.secret)
        assert np.array_equal(first, again.answer(query).values)
        other = trust.open(Adjacency.REPLACE, source=KeyedSource(bytes(32)))
        assert not np.array_equal(first, other.answer(query).values)


def test_a_curve_is_opened_point_by_point_and_resumed(tmp_path):
    trust = Servers(table())
    curve = ogive.PointwiseCurve.open(AGE, trust=trust, privacy=PureDP(1), state=tmp_path / "state")
    first = curve.counts([60])
    assert ogive.PointwiseCurve.resume(tmp_path / "state", trust=trust).counts([30, 60])[1] == first[0]
    with pytest.raises(ReleaseMismatchError):
        ogive.PointwiseCurve.resume(tmp_path / "state", trust=Servers(table(2)))


def test_an_account_pays_once_and_tells_servers_by_their_terms(tmp_path):
    data = table()
    with ogive.Ledger.open(tmp_path / "books.db") as ledger:
        account = ledger.account("ages", unit=Servers(data).unit(Adjacency.REPLACE), limit=PureDP(5))
        first = ogive.release(AGE, trust=Servers(data), privacy=PureDP(1), ledger=account)
        again = ogive.release(AGE, trust=Servers(data), privacy=PureDP(1), ledger=account)
        assert np.array_equal(first.raw, again.raw)
        assert account.remaining == PureDP(4)
        other = ogive.release(AGE, trust=Servers(data, servers=3), privacy=PureDP(1), ledger=account)
        assert account.remaining == PureDP(3)
        assert not np.array_equal(first.raw, other.raw)


def test_what_is_no_sum_is_refused_with_what_would_work():
    statistic = ogive.Boxplot("age", (0, 120), bins=64, method="five_numbers")
    with pytest.raises(UnsupportedError, match="servers compute only sums of shares; use trust central"):
        released(Servers(table()), statistic)
    with pytest.raises(UnsupportedError, match="trust local"):
        released(Servers(table()), ogive.Ecdf("age", (0, 120), grid="integers", method="reports"))


def test_missing_values_are_dropped_where_the_number_of_records_is_private():
    ages = table()["age"].astype(float)
    ages[:100] = np.nan
    statistic = Ecdf("age", (0, 120), grid="integers", missing="drop")
    for upload in ("keys", "tables"):
        trust = Servers({"age": ages}, upload=upload)
        curve = released(trust, statistic, adjacency=Adjacency.ADD_OR_REMOVE)
        assert curve.total is None
        assert abs(curve.raw[-1] - 200) < 60
        with pytest.raises(ParameterError, match="would publish how many"):
            released(trust, statistic)


def test_the_noise_of_every_server_is_stated():
    one = released(ogive.Central(table()), Ecdf("age", (0, 120), grid="integers", method="path"))
    for servers in (2, 4):
        more = released(Servers(table(), servers=servers), Ecdf("age", (0, 120), grid="integers", method="path"))
        ratio = more.strategy.variance(total_known=True)[50] / one.strategy.variance(total_known=True)[50]
        assert ratio == pytest.approx(servers, rel=1e-3)
        assert more.provenance.price == one.provenance.price


def test_servers_of_which_fewer_collude_add_shares_of_the_noise():
    asked = Ecdf("age", (0, 120), grid="integers", method="tree_ls")
    one = released(ogive.Central(table()), asked).strategy.variance(total_known=True)[50]
    for servers, colluding in ((3, 1), (4, 1), (4, 2), (4, 3)):
        shared = released(Servers(table(), servers=servers, colluding=colluding), asked)
        ratio = shared.strategy.variance(total_known=True)[50] / one
        assert ratio == pytest.approx(servers / (servers - colluding), rel=1e-3)
    everyone = released(Servers(table(), servers=4), asked)
    assert np.array_equal(shared.raw, everyone.raw), "three of four is the default, and has its noise"
    statement = Servers(table(), servers=4, colluding=1).assumption
    assert "uploads to 1 of the 4 servers learns only what is published" in statement
    assert "Each of at least 3 servers keeps secret what it received" in statement
    for colluding in (0, 4):
        with pytest.raises(ParameterError, match="colluding must be a whole number from 1 to 3"):
            Servers(table(), servers=4, colluding=colluding)


def test_the_assumption_says_whom_one_trusts():
    assert "uploads to 1 of the 2 servers" in Servers(table()).assumption
    assert "uploads to 2 of the 3 servers" in Servers(table(), servers=3).assumption
    assert "changes no count by more than one record" in Servers(table()).assumption
    assert "can change the answers at will" in Servers(table(), verified=False).assumption


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Servers(table(), upload="keys"), "Uploaded to 2 servers: comparison keys."),
        (lambda: Servers(table(), upload="tables", servers=3), "Uploaded to 3 servers: tables in shares."),
        (lambda: Servers([table(), table()]), "Uploaded by 2 organizations to 2 servers: sums in shares."),
    ],
)
def test_a_release_says_what_was_uploaded_to_how_many(make, words):
    trust = make()
    said = released(trust).provenance.assumption
    assert said == trust.assumption.replace(" What is assumed: ", f" {words} What is assumed: ")


def test_what_was_uploaded_is_the_same_whatever_the_number_of_records():
    for bins in (8, 30, 36, 120) if is_everything() else (30, 36):
        told = {
            released(Servers(table(size=people)), Ecdf("age", (0, 120), bins=bins)).provenance.assumption
            for people in ((1, 40, 3_000) if is_everything() else (1, 300))
        }
        assert len(told) == 1


def test_progress_is_told():
    told = []
    released(Servers(table(), progress=lambda *steps: told.append(steps)))
    assert told
    assert all(0 < done <= whole == 300 for done, whole in told)
    assert told[-1] == (300, 300)
    told.clear()
    simulation = ogive.Simulation(Servers, servers=3).telling(lambda *steps: told.append(steps))
    released(simulation.over(table()))
    assert told[-1] == (300, 300)
    assert released(ogive.Simulation(ogive.Central).telling(print).over(table())).total == 300


def test_sums_that_might_wrap_are_refused():
    size = 64
    binning = Binning("x", ogive.Grid.linear(0, 1, bins=size))
    path = CurveQuery(binning, design_path(size, privacy=PureDP(1), adjacency=Adjacency.REPLACE))
    projection = design_projection(size, degree=8, privacy=ogive.ZeroConcentratedDP(1), adjacency=Adjacency.REPLACE)
    shapes = CurveQuery(binning, projection)
    for query, most in ((path, (1 << 59) // size), (shapes, (1 << 59) // int(np.abs(projection.features).max()))):
        check_range(query, records=most // (8 * size), servers=2, honest=1, modulus=2**61 - 1)
        with pytest.raises(UnsupportedError, match="may leave the range"):
            check_range(query, records=4 * most, servers=2, honest=1, modulus=2**61 - 1)
    loud = CurveQuery(binning, design_path(size, privacy=PureDP("1e-12"), adjacency=Adjacency.REPLACE))
    with pytest.raises(UnsupportedError, match="may leave the range"):
        check_range(loud, records=10, servers=16, honest=1, modulus=2**50)


def test_nothing_is_paid_for_what_servers_cannot_count(tmp_path):
    data = table() | {"risk": np.linspace(0, 1, 300)}
    trust = Servers(data)
    pairs = {"kernel": "kendall", "bounds": {"age": (0, 120), "risk": (0, 1)}}
    wide = ogive.Grid.linear(0, 120, bins=(1 << 20) + 1)
    many = size_of(10_000_000, part=1_100_000)
    cases = [
        (ogive.Ecdf("age", (0, 120), bins=many), f"at most 1048576 cells, not in {many}; use fewer bins"),
        (ogive.Ecdf("age", (0, 120), bins=1 << 20, missing="drop", method=hand_made(1 << 20)), "not in 1048577"),
        (ogive.Quantiles("age", [0.5], bounds=(0, 120), bins=many, method="bisection"), "at most 1048576 cells"),
        (ogive.Roc("risk", "sick", bounds=(0, 1), bins=1_500_000, negative=0, method="tree_ls"), "not in 3000000"),
        (ogive.Ustatistic(("age", "risk"), bins=1500, **pairs), "2250000 combinations of bins, more than 4096"),
        (ogive.Ecdf("age", grid=wide, method=hand_made(wide.bins)), "not in 1048577"),
    ]
    with ogive.Ledger.open(tmp_path / "books.db") as ledger:
        for adjacency in Adjacency:
            account = ledger.account(adjacency.value, unit=trust.unit(adjacency), limit=PureDP(9))
            for number, (statistic, message) in enumerate(cases):
                if not is_everything() and (number % 2 == 0) != (adjacency is Adjacency.REPLACE):
                    continue  # each of them once
                if adjacency is Adjacency.REPLACE and getattr(statistic, "missing", None) == "drop":
                    continue
                with pytest.raises((UnsupportedError, ParameterError), match=message):
                    ogive.release(statistic, trust=trust, privacy=PureDP(1), adjacency=adjacency, ledger=account)
            assert account.spent is None
            assert account.history == ()


def hand_made(bins):
    return design_tree(bins, privacy=PureDP(1), adjacency=Adjacency.REPLACE)


def test_sums_that_might_wrap_are_refused_before_they_are_paid(tmp_path, monkeypatch):
    trust = Servers(table())
    monkeypatch.setattr("ogive.trust.modulus.WIDE", 1 << 70)
    monkeypatch.setattr("ogive.crypto.field.P", 1 << 10)
    monkeypatch.setattr("ogive.trust.servers.settings.P", 1 << 10)
    with ogive.Ledger.open(tmp_path / "books.db") as ledger:
        account = ledger.account("ages", unit=trust.unit(Adjacency.REPLACE), limit=PureDP(9))
        with pytest.raises(UnsupportedError, match="may leave the range"):
            ogive.release(AGE, trust=Servers(table(), upload=TABLES), privacy=PureDP(1), ledger=account)
        assert account.spent is None


def test_what_is_uploaded_does_not_make_another_question(tmp_path):
    data = table()
    with ogive.Ledger.open(tmp_path / "books.db") as ledger:
        account = ledger.account("ages", unit=Servers(data).unit(Adjacency.REPLACE), limit=PureDP(5))
        first = ogive.release(AGE, trust=Servers(data), privacy=PureDP(1), ledger=account)
        for options in ({"upload": "tables"}, {"upload": "keys"}, {"verifications": 3}):
            again = ogive.release(AGE, trust=Servers(data, **options), privacy=PureDP(1), ledger=account)
            assert np.array_equal(first.raw, again.raw)
        assert account.spent == PureDP(1)
        other = ogive.release(AGE, trust=Servers(data, verified=False), privacy=PureDP(1), ledger=account)
        assert not np.array_equal(first.raw, other.raw)
        assert account.spent == PureDP(2)
