"""Plans where several parties or servers add noise: errors with the noise there really is, bytes and seconds."""

import json
import math
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from helpers.scope import size

import ogive
from ogive.errors import ParameterError, UnsupportedError
from ogive.noise import KeyedSource
from ogive.privacy import Adjacency, PrivacyUnit, PureDP, ZeroConcentratedDP
from ogive.queries import CurveQuery
from ogive.releasing.planning.predict import plan_taken
from ogive.releasing.planning.text import table
from ogive.strategies import design_path
from ogive.trust import Central, SecAgg, Servers, Simulation
from ogive.trust.servers.server import Server

WISH = ogive.Ecdf("x", bounds=(0, 100), bins=64, method="tree_ls")
RECORDS = 3_000
AMONG_FOUR = Simulation(SecAgg, parties=4, colluding=1, dropouts=1)
SCHEMA = json.loads((Path(ogive.__file__).parent / "schemas" / "plan-1.schema.json").read_text())


def smaller():
    """The statistic where every row of a plan is looked at."""
    return ogive.Ecdf("x", bounds=(0, 100), bins=size(64, part=16), method="tree_ls")


def planned(trust, statistic=WISH, privacy=PureDP(1)):  # noqa: B008
    return ogive.plan(statistic, privacy=privacy, records=RECORDS, trust=trust)


def taken(trust, statistic=WISH, privacy=PureDP(1)):  # noqa: B008
    """The row that a plan marks, without the others."""
    unit = PrivacyUnit(Adjacency.REPLACE)
    return plan_taken(statistic, privacy=privacy, records=RECORDS, unit=unit, trust=trust).chosen


def noise_of(row):
    """Standard deviation of the noise that a row names, in records."""
    return float(row.noise.split("+/- ")[1].split()[0])


@pytest.mark.each_value
@pytest.mark.parametrize("privacy", [PureDP("0.1"), ZeroConcentratedDP("0.01")], ids=str)
@pytest.mark.parametrize(
    ("trust", "factor"),
    [(AMONG_FOUR, 2), (Simulation(SecAgg, parties=5), 5 / 4), (Servers, 2), (Simulation(Servers, servers=3), 3)],
)
def test_noise_of_all_who_add_is_counted(trust, factor, privacy):
    alone, together = (taken(each, privacy=privacy) for each in (Central, trust))
    assert together.price == alone.price
    assert noise_of(together) == pytest.approx(math.sqrt(factor) * noise_of(alone), rel=0.02)
    for name in ("rmse", "ks", "ks_95"):  # smoothing takes out a little more of more noise
        assert 0.85 < together.errors[name] / alone.errors[name] / math.sqrt(factor) < 1.05, name
    assert (together.errors["energy"] > alone.errors["energy"]) == (factor > 1)


def test_the_predicted_error_is_that_of_releases():
    rng = np.random.default_rng(1)
    values = rng.integers(0, 101, size=RECORDS)
    exact = ogive.ecdf(values, bounds=(0, 100), bins=64, trust=ogive.Clear).raw
    for trust in (AMONG_FOUR, Servers):
        privacy = PureDP("0.05")
        row = taken(trust, privacy=privacy)
        curves = [
            ogive.ecdf(values, bounds=(0, 100), bins=64, method="tree_ls", trust=trust, privacy=privacy).raw
            for _ in range(12)
        ]
        found = math.sqrt(np.mean([(curve - exact) ** 2 for curve in curves]))
        # twelve curves of some sixty correlated errors each; without the factor of two it would be 0.71
        assert found == pytest.approx(noise_of(row), rel=0.25)


def test_pairs_count_the_noise_of_all_servers_too():
    gini = ogive.Ustatistic("x", "gini", bounds=(0, 100), bins=16, method="cells")
    alone, together = (taken(each, gini) for each in (Central, Servers))
    assert together.errors["value"] > alone.errors["value"]


@pytest.mark.usefixtures("fewer_shapes")
def test_both_uploads_are_shown_and_what_a_release_takes_comes_first():
    asked = smaller()
    rows = [row for row in planned(Servers, asked).rows if row.method == "tree_ls"]
    assert {row.traffic.upload for row in rows} == {"keys", "tables"}
    assert [row.chosen for row in rows] == [True, False]
    few = taken(Servers, ogive.Ecdf("x", bounds=(0, 100), bins=4, method="tree_ls"))
    assert few.traffic.upload == "tables"
    many = taken(Servers, ogive.Ecdf("x", bounds=(0, 100), bins=4096, method="tree_ls"))
    assert many.traffic.upload == "keys"
    only = planned(Simulation(Servers, servers=3), asked).rows
    assert {row.traffic.upload for row in only} == {"tables"}
    sums = taken(Simulation(Servers, parties=7)).traffic
    assert (sums.upload, sums.bytes_per_party) == ("sums", 2 * (16 + 32) + 64 * 8)
    assert {row.traffic.upload for row in planned(AMONG_FOUR, asked).rows} == {"vectors"}
    test = taken(Servers, ogive.HosmerLemeshow("p", "y", bins=32, groups=4))
    assert test.traffic.bytes_per_party > 2 * 8 * 4
    assert all(row.traffic is None for row in planned(Central, asked).rows)


@pytest.mark.parametrize("upload", ["keys", "tables"])
def test_planned_bytes_are_those_that_servers_receive(upload, monkeypatch):
    received: dict[int, int] = {}
    receive = Server.receive

    def counting(server, message):
        received[id(server)] = received.get(id(server), 0) + len(message)
        return receive(server, message)

    monkeypatch.setattr(Server, "receive", counting)
    trust = Simulation(Servers, upload=upload)
    values = np.random.default_rng(1).integers(0, 101, size=RECORDS)
    ogive.ecdf(values, bounds=(0, 100), bins=64, method="tree_ls", trust=trust, privacy=PureDP(1))
    exchanged = (16 + 32) * RECORDS  # of the verification and of names, which are not among the uploads
    assert max(received.values()) == pytest.approx(taken(trust).traffic.bytes_per_server - exchanged, rel=0.01)


@pytest.mark.parametrize(("upload", "times"), [("keys", 4), ("tables", 1)])
def test_questions_about_cells_that_were_counted_cost_nothing_more(upload, times, monkeypatch):
    verified = []
    project = Server.project

    def noting(server, ends, weights):
        verified.append(ends)
        return project(server, ends, weights)

    monkeypatch.setattr(Server, "project", noting)
    strategy = design_path(64, privacy=PureDP(1), adjacency=Adjacency.REPLACE)
    # the second asks for nothing new, the last but one is the fourth new one, and covers the last
    asked = [(10, 40), (40,), (20,), (30,), (31,), (5,)]
    queries = [CurveQuery(WISH.binning(), strategy, points) for points in asked]
    values = {"x": np.random.default_rng(1).integers(0, 101, size=100)}
    trust = Servers(values, upload=upload, verifications=4)
    opening = trust.open(Adjacency.REPLACE, source=KeyedSource.from_seed(1))
    for query in queries:
        opening.answer(query)
    assert len(verified) == 2 * times
    [once], [several] = (
        trust.options.traffic(some, records=100, adjacency=Adjacency.REPLACE) for some in (queries[:2], queries)
    )
    assert several.bytes_per_party == once.bytes_per_party
    assert several.bytes_per_server == once.bytes_per_server + 16 * 100 * (times - 1)
    assert (several.seconds > once.seconds) == (times > 1)


@pytest.mark.everything
def test_a_plan_with_traffic_is_read_back_and_fits_the_schema():
    made = planned([Central, Servers, AMONG_FOUR])
    jsonschema.validate(made.to_dict(), SCHEMA)
    assert ogive.Plan.from_json(made.to_json()) == made
    told = [row.traffic.bytes_to_party for row in made.rows if row.traffic is not None]
    assert 0 in told
    assert max(told) > 2_000, "four parties' keys, shares and confirmations"
    earlier = made.to_dict()
    for row in earlier["rows"]:
        row.get("traffic", {}).pop("bytes_to_party", None)
    jsonschema.validate(earlier, SCHEMA)
    assert {row.traffic.bytes_to_party for row in ogive.Plan.from_dict(earlier).rows if row.traffic} == {0}
    broken = made.to_dict()
    traffic = next(row["traffic"] for row in broken["rows"] if "traffic" in row)
    for name, value in (
        ("bytes_per_party", -1),
        ("bytes_per_server", 1.5),
        ("bytes_to_party", -1),
        ("seconds", "3"),
        ("upload", None),
    ):
        kept = traffic[name]
        traffic[name] = value
        with pytest.raises(ogive.DataError):
            ogive.Plan.from_dict(broken)
        traffic[name] = kept


@pytest.mark.usefixtures("fewer_shapes")
def test_the_table_has_bytes_and_seconds_only_where_they_are():
    assert "per party" not in table(planned(Central, smaller()))
    text = table(planned([Central, Servers]))
    assert "per server: bytes that the busiest server receives" in text
    assert " B  " in text
    assert " MB" in text


def test_a_plan_of_parties_says_what_it_needs_to_know():
    with pytest.raises(ogive.ParameterError, match="trust secagg needs parties"):
        planned(SecAgg)


def test_a_plan_gives_the_reason_that_a_release_gives():
    table = {"age": np.arange(100.0), "risk": np.linspace(0, 1, 100)}
    pairs = {"kernel": "kendall", "bounds": {"age": (0, 120), "risk": (0, 1)}}
    for statistic, message in (
        (ogive.Ecdf("age", bounds=(0, 120), bins=2_000_000), "at most 1048576 cells, not in 2000000; use fewer bins"),
        (ogive.Ecdf("age", bounds=(0, 120), method="adaptive", bins=1 << 21), "at most 1048576 cells"),
        (ogive.Boxplot("age", bounds=(0, 120), bins=600_000, by="risk", groups=(0, 1)), "not in 1200000; use fewer"),
        (ogive.HosmerLemeshow("risk", "age", bins=1 << 21), "at most 1048576 cells"),
        (ogive.Ustatistic(("age", "risk"), bins=1500, **pairs), "2250000 combinations of bins, more than 4096"),
    ):
        with pytest.raises((ParameterError, UnsupportedError), match=message) as plans:
            planned(Servers(table), statistic)
        with pytest.raises((ParameterError, UnsupportedError)) as releases:
            ogive.release(statistic, trust=Servers(table), privacy=PureDP(1))
        assert str(plans.value) == str(releases.value)


def test_a_plan_of_pairs_says_that_intervals_count_rounding_at_its_worst():
    wish = ogive.Ustatistic("x", "variance", bounds=(0, 100))
    for trust in (Servers, AMONG_FOUR):
        assert "grid='integers' rounds nothing" in planned(trust, wish).basis
    assert "rounds nothing" not in planned(Central, wish).basis
