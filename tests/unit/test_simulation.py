"""Trust models made of one table: which there are, what they take, and that every way to make one is the same."""

import numpy as np
import pytest

import ogive
from ogive.errors import ParameterError
from ogive.noise import KeyedSource
from ogive.privacy import Adjacency, PrivacyUnit, PureDP
from ogive.trust import TRUST_MODELS, Central, Clear, Collected, Local, SecAgg, Servers, Simulation
from ogive.trust.models import model_named

AGES = np.random.default_rng(1).integers(0, 100, size=2_000)
TABLE = {"value": AGES}
AMONG_THREE = Simulation(SecAgg, parties=3, colluding=1)
GRID = {"bounds": (0, 100), "bins": 20}
WISH = ogive.Ecdf("value", **GRID)


def source():
    return KeyedSource.from_seed(5)


def test_every_trust_model_can_be_made_of_one_table():
    for model in TRUST_MODELS:
        needed = {"parties": 3} if model is SecAgg else {}
        made = Simulation(model, **needed).over(TABLE)
        assert isinstance(made, model)
        assert made.count() == 2_000
        assert type(made.options) is model.options_type
        assert made.options == Simulation(model, **needed).options


def test_options_are_those_of_the_model_and_not_of_its_records():
    assert Central.option_fields() == Local.option_fields() == Clear.option_fields() == ()
    assert {"parties", "colluding", "dropouts"} <= {field.name for field in SecAgg.option_fields()}


def test_a_call_a_session_and_a_release_go_the_same_way():
    direct = ogive.release(WISH, trust=AMONG_THREE.over(TABLE), privacy=PureDP(1), source=source())
    call = ogive.ecdf(AGES, **GRID, trust=AMONG_THREE, privacy=PureDP(1), source=source())
    session = ogive.Session(TABLE, limit=PureDP(1), trust=AMONG_THREE)
    paid = session.ecdf("value", **GRID, privacy=PureDP(1), source=source())
    assert list(direct.raw) == list(call.raw) == list(paid.raw)
    assert direct.provenance.assumption == call.provenance.assumption == paid.provenance.assumption
    assert "At least 2 of the 3 parties" in direct.provenance.assumption
    assert session.spent == PureDP(1)


def test_every_call_on_an_array_takes_a_trust_model():
    labels = AGES > 50
    exact = {"trust": Clear, "privacy": None}
    assert ogive.ecdf(AGES, **GRID, **exact).provenance.trust == "clear"
    assert ogive.quantiles(AGES, [0.5], **GRID, **exact).provenance.trust == "clear"
    assert ogive.boxplot(AGES, **GRID, **exact).provenance.trust == "clear"
    assert ogive.find_bounds(AGES, **exact).provenance.trust == "clear"
    assert ogive.hosmer_lemeshow(AGES / 100, labels, **exact).provenance.trust == "clear"
    assert ogive.roc(AGES, labels, bounds=(0, 100), **exact).provenance.trust == "clear"
    assert ogive.ustatistic(AGES, bounds=(0, 100), **exact).provenance.trust == "clear"
    with pytest.raises(ParameterError, match="give a privacy guarantee"):
        ogive.ecdf(AGES, **GRID)


def test_a_persons_rows_are_dealt_to_one_party_and_bounded_there():
    people = {"value": AGES, "who": np.arange(2_000) // 4}
    model = AMONG_THREE.over(people, person="who", max_rows_per_person=2)
    held = [records.aggregate(WISH.binning()).sum() for records in model.parties]
    assert sum(held) == 1_000
    assert all(held)
    assert not any(number % 2 for number in held)
    assert model.unit(ogive.Adjacency.ADD_OR_REMOVE).max_rows_per_person == 2


def test_a_part_of_a_session_has_the_sessions_trust():
    session = ogive.Session(TABLE, name="all", limit=PureDP(1), trust=AMONG_THREE)
    north = session.part("north", {"value": AGES[:1_000]})
    assert "At least 2 of the 3 parties" in north.ecdf("value", **GRID, privacy=PureDP(1)).provenance.assumption


def test_a_fault_is_named_by_its_party_where_there_are_several():
    holes = {"value": [*AGES[:-1], None]}
    for trust, start in ((ogive.Servers, "^column 'value' has"), (AMONG_THREE, "^party [123]: column 'value' has")):
        with pytest.raises(ogive.DataError, match=start):
            ogive.release(WISH, trust=Simulation.of(trust).over(holes), privacy=PureDP(1))


@pytest.mark.parametrize(
    ("model", "options", "message"),
    [
        (SecAgg, {}, "trust secagg needs parties, for example parties=5"),
        (Central, {"parties": 3}, "trust central has no option parties; it takes none"),
        (SecAgg, {"parties": 3, "servers": 2}, "trust secagg has no option servers; it takes parties, colluding"),
        (Collected, {}, "made of one table"),
        (Central(TABLE), {}, "made of one table, such as Central, its name, such as"),
        ("nobody", {}, "trust must be one of central, clear"),
        (dict, {}, "made of one table"),
    ],
)
def test_what_no_model_can_be_made_of_is_refused_at_once(model, options, message):
    with pytest.raises(ParameterError, match=message):
        Simulation(model, **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"parties": 1}, "parties must be"),
        ({"parties": 2.0}, "parties must be"),
        ({"parties": 3, "colluding": 3}, "colluding must be"),
        ({"parties": 3, "dropouts": -1}, "dropouts must be"),
        ({"parties": 3, "colluding": 2, "dropouts": 1}, "leave none of 3 parties honest"),
    ],
)
def test_numbers_of_parties_are_refused_with_and_without_records(options, message):
    with pytest.raises(ParameterError, match=message):
        Simulation(SecAgg, **options)
    others = {name: value for name, value in options.items() if name != "parties"}
    tables = [{"value": AGES[number::3]} for number in range(int(options["parties"]) if others else 1)]
    with pytest.raises(ParameterError, match=message):
        SecAgg(tables, **others)


def test_simulations_are_equal_where_they_say_the_same():
    assert Simulation(SecAgg, parties=3) == Simulation(SecAgg, parties=3) != Simulation(SecAgg, parties=4)
    assert len({Simulation(Central), Simulation(Central), Simulation(Local)}) == 2
    assert repr(AMONG_THREE) == "Simulation(SecAgg, parties=3, colluding=1)"


@pytest.mark.parametrize(
    "make",
    [
        lambda: Simulation(SecAgg, parties="3"),
        lambda: Simulation(SecAgg, parties=True),
        lambda: Simulation(SecAgg, parties=3, dropouts=3),
        lambda: Simulation(Servers, servers=1),
        lambda: Simulation(Servers, parties=0),
        lambda: Simulation(Servers, upload="key"),
        lambda: Servers(TABLE, verified="yes"),
        lambda: Servers(TABLE, verified=1),
    ],
)
def test_options_are_checked_at_once(make):
    with pytest.raises(ParameterError, match=r"must be (a|one of|True) .*(, got|got) "):
        make()


def test_a_model_without_records_is_refused_where_records_are_needed(tmp_path):
    curve = ogive.Ecdf("value", **GRID)
    for trust, message in (
        (Servers, r"needs records: trust=ogive\.Servers\(records\)"),
        (AMONG_THREE, r"needs records: trust=simulation\.over\(records\)"),
        (TABLE, r"trust must be a trust model such as Central\(data\), got dict"),
    ):
        with pytest.raises(ParameterError, match=rf"^(release )?{message}"):
            ogive.release(curve, trust=trust, privacy=PureDP(1))
        with pytest.raises(ParameterError, match=rf"^(PointwiseCurve\.open )?{message}"):
            ogive.PointwiseCurve.open(curve, trust=trust, privacy=PureDP(1))
        with pytest.raises(ParameterError, match=rf"^(PointwiseCurve\.resume )?{message}"):
            ogive.PointwiseCurve.resume(tmp_path / "state", trust=trust)


def test_a_model_with_records_is_refused_where_the_table_is_given():
    held = Servers(TABLE)
    for ask in (
        lambda: ogive.Session(TABLE, limit=PureDP(1), trust=held),
        lambda: ogive.ecdf(AGES, **GRID, trust=held, privacy=PureDP(1)),
    ):
        with pytest.raises(ParameterError, match=r"not a Servers with records of its own, which ogive\.release takes"):
            ask()


def test_a_model_may_be_named_by_text():
    ages = {"age": np.arange(60) % 40}
    asked = {"bounds": (0, 40), "bins": 8, "privacy": ogive.PureDP(4)}
    for name, model in (("local", Local), ("central", Central)):
        one, other = (ogive.ecdf(ages["age"], trust=each, source=source(), **asked) for each in (name, model))
        assert one.provenance.trust == name
        assert np.array_equal(one.raw, other.raw)
        assert Simulation.of(name) == Simulation(name) == Simulation(model)
    for model in TRUST_MODELS:
        assert model_named(model.name) is model
    assert Simulation("secagg", parties=3) == Simulation(SecAgg, parties=3)
    assert ogive.Session(ages, limit=ogive.PureDP(1), trust="local").unit == PrivacyUnit(Adjacency.REPLACE)
    planned = ogive.plan(ogive.Ecdf("age", bounds=(0, 40), bins=8), privacy=ogive.PureDP(4), records=60, trust="local")
    assert planned.rows
    for wrong in ("curator", "", "Local"):
        with pytest.raises(ParameterError, match="trust must be one of central, clear, local, pairs, secagg, servers"):
            Simulation.of(wrong)
