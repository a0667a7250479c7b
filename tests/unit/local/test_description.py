"""Descriptions: what everybody can read, what contradicts itself, and any bytes at all."""

import dataclasses
import json
from importlib.resources import files

import jsonschema
import pytest
from helpers.scope import size
from hypothesis import given, settings
from hypothesis import strategies as st

from ogive import ApproxDP, Grid, ParameterError, PeerError, PureDP, ZeroConcentratedDP
from ogive.columns import Binning, Categories, Domain, Label, Membership
from ogive.local import (
    Description,
    HaarOracle,
    PublicClasses,
    RandomizedResponse,
    TreeOracle,
    UnaryOracle,
    design_tree,
)

SCHEMA = json.loads((files("ogive") / "schemas" / "local-1.schema.json").read_text())
INCOME = Domain((Binning("income", Grid.linear(0, 100_000, bins=16)),))
SCORED = Domain((Binning("score", Grid.linear(0, 1, bins=8), outside="refuse"), Label("sick", ("yes",), ("no",))))
JOBS = Domain(
    (
        Categories("job", ("nurse", "smith", 3, True, 2.5)),
        Binning("born", Grid.integers("1950-01-01", "1950-01-04"), missing="low"),
    )
)


def described(**changes):
    fields = {
        "domain": INCOME,
        "oracle": HaarOracle(16, 1),
        "privacy": PureDP(1),
        "participants": 1000,
        "title": "Incomes",
        "statistic": {"name": "ustatistic", "kernel": "gini", "bounds": [0, 1.5, None, True]},
        "id": "0123456789abcdef" * 2,
    }
    return Description(**(fields | changes))


ALL = {
    "haar": described(),
    "krr": described(oracle=RandomizedResponse(16, "1/3"), rounding="randomized"),
    "unary": described(oracle=UnaryOracle(16, 1), statistic=None, title=""),
    "tree": described(oracle=TreeOracle(16, "0.5", seed=7, branching=4)),
    "budget": described(
        oracle=design_tree(16, 1, "1e-6", split="budget", composition="exact"), privacy=ApproxDP(1, "1e-6")
    ),
    "classes": described(domain=SCORED, oracle=PublicClasses(TreeOracle(8, 1), 2)),
    "members": described(
        domain=Domain((Membership("smokes", ("yes",), "no", ("no",)),)), oracle=RandomizedResponse(2, 1)
    ),
    "categories": described(domain=JOBS, oracle=RandomizedResponse(20, 1), participants=1 << 32),
}


@pytest.mark.parametrize("name", ALL)
def test_json_gives_the_same_description(name):
    text = ALL[name].to_json()
    again = Description.from_json(text)
    assert again == ALL[name]
    assert again.digest == ALL[name].digest
    assert again.to_json() == text
    assert Description.from_json(text.encode()) == again


@pytest.mark.parametrize("name", ALL)
def test_json_follows_the_published_schema(name):
    jsonschema.validate(ALL[name].to_dict(), SCHEMA)


def test_schema_refuses_what_is_no_description():
    for place, value in (("id", "x"), ("participants", 0), ("rounding", "up"), ("oracle", {"name": "none"})):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(ALL["haar"].to_dict() | {place: value}, SCHEMA)


@pytest.mark.parametrize(
    "changes",
    [
        {"id": "f" * 32},
        {"participants": 1001},
        {"oracle": HaarOracle(16, 1, seed=1)},
        {"oracle": HaarOracle(16, "0.999")},
        {"privacy": PureDP(2)},
        {"rounding": "randomized"},
        {"domain": Domain((Binning("income", Grid.linear(0, 100_001, bins=16)),))},
        {"statistic": None},
        {"title": "Income"},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_every_field_decides_the_tag(changes):
    other = dataclasses.replace(ALL["haar"], **changes)
    assert other.tag != ALL["haar"].tag
    assert len(other.tag) == 4
    assert other.digest.startswith(other.tag)


@pytest.mark.parametrize(
    ("domain", "oracle"),
    [
        # the class would be the bin modulo 8, in clear
        (INCOME, PublicClasses(RandomizedResponse(2, 1), 8)),
        (SCORED, PublicClasses(RandomizedResponse(2, 1), 8)),
        (SCORED, PublicClasses(RandomizedResponse(4, 1), 4)),
        (JOBS, PublicClasses(RandomizedResponse(5, 1), 4)),
        (JOBS, PublicClasses(RandomizedResponse(4, 1), 5)),
        (Domain((Categories("job", tuple("abcdefgh")),)), PublicClasses(RandomizedResponse(2, 1), 4)),
        (Domain((*INCOME.columns, Categories("job", tuple("abc")))), PublicClasses(RandomizedResponse(2, 1), 24)),
        (Domain((SCORED.columns[1], SCORED.columns[0])), PublicClasses(RandomizedResponse(8, 1), 2)),
    ],
)
def test_what_is_sent_as_it_is_is_a_whole_column_of_classes_and_nothing_of_another(domain, oracle):
    assert oracle.size == domain.size
    with pytest.raises(ParameterError, match=f"the oracle sends {oracle.classes} classes as they are, so the last of"):
        described(domain=domain, oracle=oracle)
    honest = ALL["classes"].to_dict()
    with pytest.raises(PeerError, match="the description cannot be used: the oracle sends"):
        Description.from_dict(honest | {"domain": domain.to_dict(), "oracle": oracle.to_dict()})


def test_public_columns_are_named():
    assert ALL["classes"].public_columns == ("sick",)
    assert {name for name, study in ALL.items() if study.public_columns} == {"classes"}


def test_ids_are_random():
    made = {
        Description(domain=INCOME, oracle=HaarOracle(16, 1), privacy=PureDP(1), participants=9).id for _ in range(9)
    }
    assert len(made) == 9


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"oracle": HaarOracle(17, 1)}, "the oracle has 17 symbols, but the columns have 16 combinations"),
        ({"oracle": HaarOracle(16, "1.01")}, "costs epsilon = 1.01, more than the stated guarantee epsilon = 1"),
        ({"oracle": ALL["budget"].oracle}, "more than the stated guarantee epsilon = 1"),
        ({"privacy": ZeroConcentratedDP(1)}, "privacy must be PureDP or ApproxDP"),
        ({"participants": 0}, "participants must be a whole number from 1 to 2\\^32, got 0"),
        ({"participants": (1 << 32) + 1}, "participants must be a whole number"),
        ({"participants": True}, "participants must be a whole number"),
        ({"participants": 9.0}, "participants must be a whole number"),
        ({"rounding": "up"}, "rounding must be simple or randomized, got 'up'"),
        ({"title": "a\nb"}, "title must be one line"),
        ({"title": "\u202eabc"}, "title must be one line"),
        ({"title": "a" * 401}, "title must be one line"),
        ({"id": "0" * 31}, "id must be 32"),
        ({"id": "F" * 32}, "id must be 32"),
        ({"oracle": "haar"}, "oracle must be one of ogive.local"),
        ({"domain": INCOME.to_dict()}, "domain must be a Domain"),
        ({"statistic": [1]}, "statistic must be an object of plain data"),
        ({"statistic": {"a": float("nan")}}, "statistic must be an object of plain data"),
        ({"statistic": {"a": (1, 2)}}, "statistic must be an object of plain data"),
        (
            {"domain": Domain((Binning("income", Grid.linear(0, 1, bins=16), missing="drop"),))},
            "is impossible for reports, whose number is public",
        ),
        (
            {
                "domain": Domain((Binning("x", Grid.explicit(range(1, 17), low=0)),)),
                "rounding": "randomized",
            },
            "of which the first is the lower bound",
        ),
    ],
)
def test_refuses_what_contradicts_itself(changes, message):
    with pytest.raises(ParameterError, match=message):
        described(**changes)


def written(**changes):
    return json.dumps(ALL["haar"].to_dict() | changes)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "it is not JSON"),
        ("{", "it is not JSON"),
        (b"\xff\xfe\x00", "it is not JSON"),
        ("[" * 100_000, "nested too deeply"),
        ("NaN", "it is not JSON"),
        ("[]", "expected an object of schema ogive.local/1"),
        ('{"schema": "ogive.curve/1"}', "expected an object of schema ogive.local/1, got schema 'ogive.curve/1'"),
        ('{"schema": "ogive.local/1"}', "the description lacks the field 'id'"),
        (written(extra=1), "has a field 'extra' that this version does not know"),
        (written(privacy={"type": "PureDP", "epsilon": "1e9"}), "exact numbers such as"),
        (written(privacy={"type": "PureDP", "epsilon": "2/2"}), "lowest terms"),
        (written(privacy={"type": "ZeroConcentratedDP", "rho": "1"}), "must be PureDP or ApproxDP"),
        (written(privacy={"type": "PureDP", "epsilon": "0"}), "epsilon must be above 0"),
        (written(privacy=1), "the privacy must be an object of texts"),
        (written(oracle={"name": "haar"}), "has the fields size, epsilon, seed, weights"),
        (written(oracle={"name": "none"}), "an oracle must be one of"),
        (written(oracle=HaarOracle(17, 1).to_dict()), "17 symbols"),
        (written(domain={"columns": []}), "name at least one column"),
        (written(domain={"columns": [{"type": "binning", "column": "x"}]}), "cannot be used: not a grid"),
        (written(participants="9"), "participants must be a whole number"),
        (written(title=1), "title must be one line"),
        (written(statistic=[]), "statistic must be an object"),
    ],
)
def test_refuses_what_others_wrote_wrong(text, message):
    with pytest.raises(PeerError, match=message) as caught:
        Description.from_json(text)
    assert "\n" not in str(caught.value)


def test_numbers_too_large_for_floating_point_are_refused():
    data = ALL["haar"].to_dict()
    data["domain"]["columns"][0]["grid"]["high"] = 10**400
    with pytest.raises(PeerError, match="of the wrong kind"):
        Description.from_dict(data)
    with pytest.raises(PeerError, match="bounds must be finite"):
        Description.from_json(json.dumps(data).replace("1" + "0" * 400, "1e400"))


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ParameterError, match=r"cannot read .*none\.json: No such file"):
        Description.from_json(tmp_path / "none.json")
    (tmp_path / "study.json").write_text(ALL["tree"].to_json())
    assert Description.of(tmp_path / "study.json") == ALL["tree"]
    assert Description.of(ALL["tree"].to_dict()) == Description.of(ALL["tree"])


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.just("1/3"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


def paths(data, front=()):
    """Every place in plain data."""
    yield front
    if isinstance(data, dict | list):
        for key, item in data.items() if isinstance(data, dict) else enumerate(data):
            yield from paths(item, (*front, key))


def read(source):
    """A description, or None where it is refused as it should be."""
    try:
        return Description.of(source)
    except PeerError as problem:
        if "\n" in str(problem):
            raise AssertionError("a message is one line") from problem
        return None


@settings(max_examples=size(400, part=60), deadline=None)
@given(data=st.data(), name=st.sampled_from(sorted(ALL)))
def test_any_change_gives_a_valid_description_or_a_peer_error(data, name):
    plain = json.loads(ALL[name].to_json())
    place = data.draw(st.sampled_from(list(paths(plain))[1:]))
    inside = plain
    for key in place[:-1]:
        inside = inside[key]
    inside[place[-1]] = data.draw(PLAIN)
    found = read(plain)
    if found is None:
        return
    assert Description.from_dict(found.to_dict()).digest == found.digest
    assert isinstance(found.words, str)


@settings(max_examples=300, deadline=None)
@given(data=st.data(), name=st.sampled_from(sorted(ALL)))
def test_any_bytes_give_a_valid_description_or_a_peer_error(data, name):
    text = bytearray(ALL[name].to_json().encode())
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(text) - 1))
        text[place] = data.draw(st.integers(0, 255))
    text = bytes(text[: data.draw(st.integers(0, len(text)))]) if data.draw(st.booleans()) else bytes(text)
    found = read(text)
    assert found is None or Description.from_dict(found.to_dict()) == found


def test_words_tell_what_is_asked_and_what_it_reveals():
    words = ALL["haar"].words
    assert "Collection 'Incomes', 0123456789abcdef0123456789abcdef\n" in words
    assert "'income', from 0.0 to 100000.0, in 16 bins" in words
    assert "One report of 10 bytes" in words
    assert "epsilon = 1: no report is more than 2.72 times as likely" in words
    assert "at most 73.1 % sure of one of them afterwards" in words
    assert "Answer once" in words
    assert "public here" not in words


def test_words_say_what_is_sent_openly_and_what_may_fail():
    assert "The column 'sick' is public here" in ALL["classes"].words
    assert "'sick', whether it is 'yes' or not" in ALL["classes"].words
    assert "This guarantee may fail with probability 1e-06." in ALL["budget"].words
    assert "rounded at random" in ALL["krr"].words
    assert "'job', one of 'nurse', 'smith', 3, True, 2.5" in ALL["categories"].words
    assert "from 1950-01-01 to 1950-01-04" in ALL["categories"].words


def test_words_say_what_the_answers_are_said_to_be_for():
    purpose = "The collector states the purpose {}; nothing prevents other uses"
    assert purpose.format("'ustatistic', 'gini'") in ALL["haar"].words
    for statistic, named in (
        ({"name": "ecdf", "column": "x"}, "'ecdf'"),
        ({"name": "ustatistic", "kernel": {"measure": "mean", "name": "auc"}}, "'ustatistic', 'auc'"),
        ({"name": "\x1b[2J", "kernel": [1]}, "'\\x1b[2J'"),
        ({"name": {"name": 1}}, "an unnamed statistic"),
    ):
        assert purpose.format(named) in described(statistic=statistic).words
    assert "The collector states no purpose." in ALL["unary"].words


def test_words_do_not_promise_that_what_is_public_is_hidden():
    words = ALL["classes"].words
    assert "your number, 'sick' unprotected,\n" in words
    assert "depend on your other answers\n  (method tree, 8 possible answers)" in words
    assert "2.72 times as likely for your other answers as for" in words
    assert "depend on your answer\n  (method haar, 16 possible answers)" in ALL["haar"].words
    for study in ALL.values():
        assert "never leaves" not in study.words


@pytest.mark.parametrize(
    ("epsilon", "often", "sure"),
    [
        ("1/10", "1.11", "at most 52.5 % sure of one of them afterwards"),
        (4, "54.6", "at most 98.2 % sure of one of them afterwards"),
        (5, "148", None),
        (20, "4.85e+08", None),
        (1000, "e^1000", None),
    ],
)
def test_words_call_a_large_epsilon_what_it_is(epsilon, often, sure):
    words = described(
        oracle=UnaryOracle(16, 1) if epsilon != "1/10" else UnaryOracle(16, epsilon), privacy=PureDP(epsilon)
    ).words
    assert f"no report is more than {often} times as likely" in words
    assert ("almost no protection" in words) == (sure is None)
    assert (sure or "practically certain of your answer") in words
    assert "100 %" not in words


def test_words_say_that_silence_tells_something_where_values_are_refused():
    silence = "the collector can see that your report is missing"
    grid = INCOME.columns[0].grid
    for missing, outside in (("refuse", "clip"), ("low", "refuse"), ("refuse", "refuse")):
        assert silence in described(domain=Domain((Binning("income", grid, missing, outside),))).words
    assert silence in ALL["categories"].words
    assert silence not in described(domain=Domain((Binning("income", grid, "low", "clip"),))).words


@pytest.mark.parametrize("place", ["top", "inside"])
def test_a_field_that_is_named_twice_is_refused(place):
    text = ALL["haar"].to_json()
    old = '"participants": 1000' if place == "top" else '"size": 16'
    assert text.count(old) == 1
    for twice in (f"{old}, {old}", f"{old.replace('1', '2')}, {old}"):
        with pytest.raises(PeerError, match=f"the description names {old.split(':')[0][1:-1]!r} twice in one object"):
            Description.from_json(text.replace(old, twice))


def test_words_of_a_hostile_description_cannot_drive_a_terminal():
    evil = "\x1b[2J\x1b[31m safe"
    domain = Domain((Categories(evil, (evil, "b")),))
    assert "\x1b" not in described(domain=domain, oracle=RandomizedResponse(2, 1)).words
