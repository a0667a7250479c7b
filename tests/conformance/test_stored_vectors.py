"""What was stored or sent in November 2026 opens, says what it said, and goes on as it would have gone on.

Data are the same to the byte. Words that people are told are kept apart, in `words.txt`: they may change, and are then
written again by `python tests/vectors/make_stored.py words`, and read in `git diff`.
"""

import dataclasses
import difflib
import json
import pickle
import pickletools
import shutil

import numpy as np
import pytest
from helpers.alike import alike
from helpers.examples import UNKEPT
from helpers.schemas import FOLDER as SCHEMAS
from helpers.schemas import fits, published
from vectors import make_stored
from vectors.make_questions import strategies_in
from vectors.make_second_ledger import ANSWERS as SECOND
from vectors.make_second_ledger import (
    POINTS,
    STREAM,
    asked,
    copied,
    digest_of,
    exported,
    opened,
    points,
    questions,
    streams,
    went_on,
)
from vectors.make_stored import (
    AFTER,
    BEFORE,
    CURVE,
    DOCUMENTS,
    FOLDER,
    KEY,
    LEARNER,
    MODELS,
    MORE_POINTS,
    SECRET,
    STATES,
    STEPS,
    TEACHERS,
    TOTALS,
    all_words,
    changed_numbers,
    collected,
    collections,
    kept_words,
    read,
    released_from,
    reports_of,
    steps_of,
    total_of,
    trained,
    training,
)
from vectors.question_cases import records
from vectors.word_cases import CASES

import ogive
from ogive import DataError, ParameterError, PeerError, PureDP, ReleaseMismatchError
from ogive.ledger.entries import plain_text
from ogive.local import Collection, Description, Randomizer, oracle_from_dict
from ogive.local.oracles import ORACLES
from ogive.noise import DerivedNodes, DiscreteGaussian, DiscreteLaplace, KeyedSource, StoredNodes
from ogive.pate.teachers import keep, model_path, open_folder, read_model, stored_terms
from ogive.releasing.pointwise import PointwiseCurve
from ogive.statistics import STATISTICS
from ogive.statistics.kinds import COSTS
from ogive.statistics.kinds import SCHEMAS as KINDS
from ogive.statistics.questions import GOES_ON
from ogive.streams import RunningTotal
from ogive.trust.servers.server import ServerState

KEPT, STATE, LEDGER = (json.loads(path.read_text(encoding="utf-8")) for path in (DOCUMENTS, STATES, SECOND))
READ = [name for name in KEPT if name != "training"]
ASKED = {name: (description, data) for name, description, data in collections()}


# --- documents

ON_ONE_LINE = {
    f"ogive.{name}/1" for name in ("calibration", "concordance", "curve", "labels", "roc", "survival", "validation")
}
"""Schemas whose texts have no line breaks."""

DERIVED = {"ogive.calibration/1": ("results",), "ogive.groups/1": ("contrasts",)}
"""What a reader computes again, by functions of another library, whose versions differ in the last digits."""

READS_AS = {"cost independent": ('"answers": 8,', '"answers": 8.0,')}
"""What a reader makes of a number that was counted: an expected one, which is the same number."""


SOON = {*READ[::3], *{KEPT[name]["schema"]: name for name in reversed(READ)}.values()}
"""Documents of every schema; what people are told of all documents is looked at below, too."""


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in SOON else pytest.mark.everything) for name in READ]
)
def test_a_document_is_read_and_written_as_it_was(name):
    data = fits(KEPT[name])
    indent = None if data["schema"] in ON_ONE_LINE else 1
    text = read(data).to_json()
    again = json.loads(text)
    assert text == json.dumps(again, indent=indent)
    for field in (name for name in DERIVED.get(data["schema"], ()) if name in data):
        assert alike(again[field], data[field])
        again[field] = data[field]
    assert json.dumps(again, indent=indent) == json.dumps(data, indent=indent).replace(*READS_AS.get(name, ("", "")))


def ends_in(data, name):
    """Every pair of ends in results, with the place where it stands."""
    if isinstance(data, dict):
        if {"low", "high"} <= data.keys():
            yield data, "low", "high"
        for key, each in data.items():
            yield from ends_in(each, key)
    elif isinstance(data, list):
        if name == "interval" and len(data) == 2:
            yield data, 0, 1
        for each in data:
            yield from ends_in(each, "")


@pytest.mark.parametrize(("name", "field"), [("calibration difference", "results"), ("group_auc", "results")])
def test_results_of_a_file_are_written_again_only_where_its_intervals_are_wider(name, field):
    own = json.loads(read({**KEPT[name], field: {}}).to_json())
    assert own[field] != {}
    wider, narrower, moved = (json.loads(json.dumps(own)) for _ in range(3))
    held, low, high = next(each for each in ends_in(wider[field], "") if isinstance(each[0][each[1]], float))
    held[low], held[high] = max(0.0, held[low] - 0.01), min(1.0, held[high] + 0.01)
    assert json.loads(read(wider).to_json())[field] == wider[field]
    held, low, high = next(each for each in ends_in(narrower[field], "") if isinstance(each[0][each[1]], float))
    held[low] = held[high]
    assert json.loads(read(narrower).to_json())[field] == own[field], "a forged interval is not passed on"
    first = next(key for key, each in moved[field].items() if isinstance(each, list | dict) or each is not None)
    moved[field][first] = 0.123
    assert json.loads(read(moved).to_json())[field] == own[field]


@pytest.fixture(scope="module")
def words():
    """What people are told now, and what is kept of it, by name."""
    return all_words(), kept_words()


def test_people_are_told_the_numbers_that_they_were_told(words):
    now, kept = words
    assert changed_numbers(kept, now) == []


def test_people_are_told_what_they_were_told(words):
    """One test for all: a better word is one red test, and one command writes it."""
    now, kept = words
    lines = [text for name in now for text in difflib.unified_diff(
        kept.get(name, "").split("\n"), now[name].split("\n"), f"{name}, kept", f"{name}, now", lineterm="", n=0
    )]  # fmt: skip
    assert not lines, "\n".join([*lines[:60], "if that was meant: python tests/vectors/make_stored.py words"])


def test_the_words_of_every_document_are_kept():
    kept = kept_words()
    assert list(kept) == [*READ, *CASES]
    assert all("\nchapter " in kept[name] for name in READ if KEPT[name]["schema"] in KINDS)


def test_numbers_are_no_wording():
    before = {"a": "3 of 1,200\nchapter 0a1 with numbers 1f", "b": "0.5"}
    assert changed_numbers(before, {"a": "only 3 among 1,200\nchapter 0a2 with numbers 1f", "new": "7"}) == []
    for other in ("3 of 1,201\nchapter 0a1 with numbers 1f", "3 of 1,200\nchapter 0a1 with numbers 2f", "1,200 of 3"):
        assert changed_numbers(before, {"a": other, "b": "0.5"}) == ["a"]


def test_the_command_that_writes_words_writes_no_other_numbers(tmp_path, monkeypatch):
    texts = {"a": "3 people"}
    monkeypatch.setattr(make_stored, "WORDS", tmp_path / "words.txt")
    monkeypatch.setattr(make_stored, "all_words", lambda: texts)
    make_stored.write_words()
    texts["a"] = "3 persons"
    make_stored.write_words()
    assert kept_words() == texts
    texts["a"] = "4 persons"
    with pytest.raises(SystemExit, match=r"--numbers writes them: a$"):
        make_stored.write_words()
    assert kept_words() == {"a": "3 persons"}
    make_stored.write_words(numbers=True)
    assert kept_words() == texts


@pytest.mark.parametrize("name", ["curve tree_ls", "roc split", "plan", "description tree", "cost joint"])
def test_a_document_with_another_name_of_a_field_is_no_longer_read(name):
    """The control: names of fields bind."""
    field = next(field for field in reversed(KEPT[name]) if field not in ("schema", "provenance", "batches"))
    data = {key if key != field else f"{key}s": value for key, value in KEPT[name].items()}
    with pytest.raises((DataError, ParameterError, PeerError)):
        read(data)


def test_a_text_with_another_order_of_fields_is_seen():
    """The control: the text is compared, and not what it means."""
    data = dict(reversed(KEPT["bounds"].items()))
    assert read(data).to_dict() == KEPT["bounds"]
    assert read(data).to_json() != json.dumps(data, indent=1)


def test_what_training_says_is_what_it_said():
    pytest.importorskip("sklearn")
    pytest.importorskip("joblib")
    assert json.dumps(fits(trained())) == json.dumps(fits(KEPT["training"]))


def test_every_schema_has_a_document():
    named = {data["schema"] for data in KEPT.values()}
    known = {schema["properties"].get("schema", {}).get("const") for schema in published().values()}
    elsewhere = {None, "ogive.ledger/1", "ogive.teachers/1"}  # states of collections, ledgers and teachers: see below
    assert known - elsewhere == named
    assert elsewhere <= known


def test_every_strategy_of_an_estimate_is_in_a_document():
    kinds = {getattr(ogive.strategies, name) for name in ogive.strategies.__all__}
    names = {kind.name for kind in kinds if isinstance(kind, type) and hasattr(kind, "from_dict")}
    found = {name for data in KEPT.values() for name in strategies_in(data)}
    assert found == names


# --- reports of owners


def test_every_oracle_has_a_collection():
    assert ASKED.keys() == set(ORACLES)
    for name, (description, _) in ASKED.items():
        assert description.oracle.name == name
        assert oracle_from_dict(description.oracle.to_dict()) == description.oracle


@pytest.mark.parametrize("oracle", ORACLES)
def test_a_description_is_what_the_statistic_still_asks(oracle):
    description, _ = ASKED[oracle]
    assert description.to_dict() == KEPT[f"description {oracle}"]
    assert Description.from_dict(KEPT[f"description {oracle}"]).digest == description.digest


@pytest.mark.parametrize("oracle", ORACLES)
def test_a_device_sends_the_report_that_it_sent(oracle):
    description, data = ASKED[oracle]
    reports, size = (FOLDER / f"{oracle}.reports").read_bytes(), description.report_bytes
    assert reports_of(description, data) == reports
    one = {name: values[7] for name, values in data.items()}
    assert Randomizer(description, secret=SECRET).report(one, number=7) == reports[7 * size : 8 * size]
    assert Randomizer(description, secret=bytes(32)).reports(data) != reports


def without_words(data):
    """An estimate's plain data without the version that released it and its words on trust."""
    left = ("version", "assumption")
    return {**data, "provenance": {key: value for key, value in data["provenance"].items() if key not in left}}


@pytest.mark.parametrize("oracle", ORACLES)
def test_a_collection_goes_on_where_it_stopped(oracle):
    description, _ = ASKED[oracle]
    reports, state = ((FOLDER / f"{oracle}.{kind}").read_bytes() for kind in ("reports", "state"))
    collection = Collection.load(state, key=KEY)
    assert collection.to_bytes(key=KEY) == state
    assert collected(description, reports).to_bytes(key=KEY) == state
    assert dataclasses.astuple(collection.counts) == (120, 4, 2, 1)
    assert alike(without_words(released_from(collection).to_dict()), without_words(KEPT[f"collected {oracle}"]))
    collection.add(reports)
    whole = Collection(description)
    whole.add(reports)
    assert np.array_equal(collection.sums, whole.sums)
    assert dataclasses.astuple(collection.counts) == (160, 124, 2, 1)


@pytest.mark.parametrize("oracle", ORACLES)
def test_the_header_of_a_state_fits_its_schema(oracle):
    import jsonschema
    import referencing

    state = (FOLDER / f"{oracle}.state").read_bytes()
    length = int.from_bytes(state[16:24], "little")
    schema = json.loads((SCHEMAS / "local-partial-2.schema.json").read_text(encoding="utf-8"))
    known = referencing.Registry().with_resources(
        (each["$id"], referencing.Resource.from_contents(each)) for each in published().values() if "$id" in each
    )
    jsonschema.Draft202012Validator(schema, registry=known).validate(json.loads(state[24 : 24 + length]))
    with pytest.raises(PeerError):
        Collection.load(state[:-40] + bytes([state[-40] ^ 1]) + state[-39:], key=KEY)


# --- streams, curves at single points, noise, servers


@pytest.mark.parametrize("name", TOTALS)
def test_a_running_total_goes_on_with_its_noise(name):
    kept = STATE["totals"][name]
    options = {key: value for key, value in TOTALS[name].items() if key != "method"}
    method = TOTALS[name]["method"]
    stream = RunningTotal.from_bytes(kept["bytes"].encode(), steps_of(name), method=method, **options)
    assert stream.to_bytes() == kept["bytes"].encode()
    assert alike(stream.add_many(AFTER).tolist(), kept["after"])
    begun = total_of(name)
    assert alike(begun.add_many(BEFORE).tolist(), kept["before"])
    assert begun.to_bytes() == kept["bytes"].encode()


def test_every_mechanism_of_streams_is_kept():
    kinds = {json.loads(kept["bytes"].partition("\n")[2])["parameters"]["method"] for kept in STATE["totals"].values()}
    assert kinds == {"path", "sqrt", "tree", "hats", "sqrt_ahead", "open_hats", "open_powers"}


@pytest.mark.parametrize("name", STATE["pointwise"])
def test_a_curve_that_is_opened_at_points_goes_on(name, tmp_path):
    kept, place = STATE["pointwise"][name], tmp_path / "curve.json"
    place.write_text(kept["state"], encoding="utf-8")
    few = ogive.Simulation(ogive.Servers, servers=2, upload="keys")
    trust = ogive.Central(records()) if name == "central" else few.over(records(24))
    curve = PointwiseCurve.resume(place, trust=trust)
    assert curve.counts(POINTS).tolist() == kept["counts"]
    assert curve.counts(MORE_POINTS).tolist() == kept["more"]
    others = ogive.Central(records(seed=1)) if name == "central" else few.over(records(24, seed=1))
    place.write_text(kept["state"], encoding="utf-8")
    with pytest.raises(ReleaseMismatchError):
        PointwiseCurve.resume(place, trust=others)


def test_noise_of_nodes_is_what_was_stored(tmp_path):
    kept, law, context = STATE["noise"], DiscreteLaplace(3), b"a release"
    derived = DerivedNodes.from_bytes(bytes.fromhex(kept["derived"]), context)
    assert derived.values(law, 2, np.arange(12)).tolist() == kept["values"]
    assert derived.to_bytes().hex() == kept["derived"]
    shutil.copyfile(FOLDER / "nodes.db", tmp_path / "nodes.db")
    stored = StoredNodes(KeyedSource(bytes(32)), context, tmp_path / "nodes.db")
    first, second = kept["stored"]
    assert stored.values(law, 0, np.arange(6)).tolist() == first
    assert stored.values(DiscreteGaussian(2), 1, np.arange(3)).tolist() == second
    with pytest.raises(ReleaseMismatchError, match="was drawn from"):
        stored.values(DiscreteGaussian(2), 0, np.arange(3))
    stored.close()


def test_servers_that_stopped_are_read():
    for number, text in enumerate(STATE["servers"]):
        state = ServerState.from_bytes(bytes.fromhex(text))
        assert state.to_bytes().hex() == text
        assert (state.server, state.answered, state.used, state.ends.tolist()) == (number, True, 1, [4, 12])


# --- teachers

PICKLED = {
    "ogive.pate.adversarial VirtualAdversarialStudent",
    "ogive.pate.learners Constant",
    "ogive.pate.networks NetworkLearner",
    "ogive.pate.networks perceptron",
}
"""What the files of teachers name, and what must be found there for ever."""


def names_in(data):
    """Modules and what is taken of them in a pickle, where they are ogive's."""
    texts, found = [], set()
    for opcode, argument, _ in pickletools.genops(data):
        if "UNICODE" in opcode.name:
            texts.append(argument)
        elif opcode.name == "STACK_GLOBAL":
            found.add(" ".join(texts[-2:]))
        elif opcode.name == "GLOBAL":
            found.add(argument)
    return {name for name in found if name.startswith("ogive")}


def test_kept_teachers_are_read_and_answer():
    models = [read_model(model_path(TEACHERS, number)) for number in range(len(MODELS))]
    assert [type(model) for model in models] == [type(model) for model in MODELS]
    for model, made in zip(models, MODELS, strict=True):
        if hasattr(made, "get_params"):
            params, wanted = model.get_params(), made.get_params()
            assert (params.pop("make").func, wanted.pop("make").func) == (LEARNER.make.func,) * 2
            assert params == wanted
        else:
            assert model == made
            assert model.predict(np.zeros((3, 4))).tolist() == [made.label] * 3


def test_files_of_teachers_name_what_they_named(tmp_path):
    files = [model_path(TEACHERS, number).read_bytes() for number in range(len(MODELS))]
    assert set().union(*map(names_in, files)) == PICKLED
    for number, model in enumerate(MODELS):
        keep(model, model_path(tmp_path, number))
        assert names_in(model_path(tmp_path, number).read_bytes()) == names_in(files[number])
        assert pickle.loads(files[number]) is not None


def test_training_goes_on_with_teachers_that_are_kept(tmp_path):
    pytest.importorskip("joblib")
    shutil.copytree(TEACHERS, tmp_path / "kept")
    text = (TEACHERS / "teachers.json").read_text(encoding="utf-8")
    terms = stored_terms(TEACHERS)
    assert fits(json.loads(text))["learner"] == terms.learner == "NetworkLearner"
    assert training() == terms
    _, done = open_folder(tmp_path / "kept", training())
    assert done == set(range(len(MODELS)))
    open_folder(tmp_path / "new", training())
    assert (tmp_path / "new" / "teachers.json").read_text(encoding="utf-8") == text
    with pytest.raises(DataError, match="trained with other settings"):
        open_folder(tmp_path / "kept", dataclasses.replace(training(), digest="0" * 40))


# --- the second ledger

CAME_LATER = {
    "concordance",
    "count",
    "crosstab",
    "describe",
    "group_auc",
    "groups",
    "histogram",
    "mean",
    "proportion",
    "sum",
    "survival",
    "validation",
}
"""Statistics that there were not when the ledger was made; `tests/vectors/stored` has a document of each."""


@pytest.fixture
def ledger(tmp_path):
    with ogive.Ledger.open(copied(tmp_path)) as found:
        yield found


def test_every_statistic_and_all_that_goes_on_is_in_the_second_ledger(ledger):
    names = {entry.statistic for account in ledger.accounts() for entry in account.history}
    assert names == {*(kind.name for kind in STATISTICS), *GOES_ON, *(cost[6:-2] for cost in COSTS)} - CAME_LATER - {
        kind.name for kind in UNKEPT
    }
    trusts = {entry.question["trust"] for account in ledger.accounts() for entry in account.history}
    assert trusts == {model.name for model in ogive.trust.TRUST_MODELS if model.private}


def test_every_question_of_the_second_ledger_is_answered_free(ledger):
    assert exported(ledger) == LEDGER["export"]
    fits(json.loads(plain_text(ledger.export())))
    assert asked(ledger) == LEDGER["answers"]
    assert points(ledger) == LEDGER["points"]
    assert exported(ledger) == LEDGER["export"]


def test_a_stream_of_the_second_ledger_goes_on_at_no_cost(ledger):
    spent = streams(ledger).spent
    assert alike(went_on(ledger, LEDGER["stream"]["bytes"]), LEDGER["stream"]["after"])
    assert streams(ledger).spent == spent == PureDP(1)
    again = RunningTotal.from_bytes(LEDGER["stream"]["bytes"].encode(), STEPS, ledger=streams(ledger), **STREAM)
    with pytest.raises(ReleaseMismatchError):
        again.add_many([1 - value for value in AFTER])


def test_another_question_is_paid(ledger):
    """The control: what differs in one option was not asked before."""
    name, trust, _, privacy, adjacency = next(each for each in questions() if each[0] == "persons")
    account = opened(ledger, name, trust, adjacency, ())
    before = len(account.history)
    statistic = ogive.Ecdf("age", **{**CURVE, "bins": 9}, method="tree_ls")
    answer = ogive.release(statistic, trust=trust, privacy=privacy, adjacency=adjacency, ledger=account)
    assert len(account.history) == before + 1
    assert digest_of(answer) not in LEDGER["answers"][name]


def test_kept_files_are_small():
    """They are read by every clone of the repository."""
    sizes = [path.stat().st_size for path in FOLDER.rglob("*") if path.is_file()]
    assert sum(sizes) < 605_000
