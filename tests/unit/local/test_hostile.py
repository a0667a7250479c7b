"""What hostile participants and hostile aggregators can do: no more than honest ones, over every byte there is."""

import dataclasses
import errno
import hashlib
import io
import itertools
import json
import tracemalloc
from importlib.resources import files

import jsonschema
import numpy as np
import pytest
from helpers.choices import randomizer

from ogive import Grid, ParameterError, PeerError, PureDP
from ogive.columns import Binning, Categories, Domain
from ogive.local import (
    Collection,
    Description,
    HaarOracle,
    PublicClasses,
    RandomizedResponse,
    Randomizer,
    TreeOracle,
    UnaryOracle,
    states,
)
from ogive.local import collection as collecting
from ogive.local import states as journals
from ogive.noise import KeyedSource

ORACLES = [
    RandomizedResponse(5, 1),
    RandomizedResponse(20, 1),
    UnaryOracle(5, 1),
    UnaryOracle(8, 1),
    HaarOracle(8, 1),
    HaarOracle(5, 1, weights="uniform"),
    TreeOracle(8, 1),
    TreeOracle(5, 1, branching=3, assignment="independent"),
    TreeOracle(5, 1, nodes="unary"),
    TreeOracle(4, 1, split="budget"),
    TreeOracle(4, 1, split="budget", nodes="unary"),
    PublicClasses(RandomizedResponse(3, 1), 3),
    PublicClasses(UnaryOracle(3, 1), 2),
    PublicClasses(HaarOracle(5, 1), 2),
]


def name(oracle):
    inner = getattr(oracle, "inner", None)
    return f"{oracle.name}-{inner.name if inner else oracle.size}"


def every_payload(oracle):
    """All bytes of a payload's length, shape (256^length, length)."""
    width = oracle.payload_bytes
    assert width <= 2
    places = np.arange(256**width)
    return np.stack([places >> 8 * byte & 255 for byte in range(width)], axis=1).astype(np.uint8)


@pytest.mark.each_value
@pytest.mark.parametrize(
    "oracle",
    [pytest.param(each, marks=pytest.mark.everything) if each == UnaryOracle(8, 1) else each for each in ORACLES],
    ids=name,
)
@pytest.mark.parametrize("number", [0, 1, 2, 11])
def test_every_accepted_payload_is_one_that_an_honest_device_sends(oracle, number, monkeypatch):
    """The set of payloads that are added is exactly the support of the randomizer, for a value that the owner may have.

    So a hostile report moves sums, and whatever is made of them, by no more than the most extreme honest report.
    """
    payloads = every_payload(oracle)
    good = oracle.add(np.zeros(oracle.shape, np.int64), np.full(len(payloads), number), payloads)
    with monkeypatch.context() as patched:
        law = randomizer(oracle, patched)
        honest = {report for symbol in range(oracle.size) for report in law(symbol, number)}
    assert {row.tobytes() for row in payloads[good]} == honest
    assert 0 < len(honest) <= len(payloads)


def test_all_ones_is_an_honest_report_of_unary_oracles(monkeypatch):
    """The most extreme vector of bits has a chance whatever the owner's value, and within e^epsilon the same."""
    oracle = UnaryOracle(5, 1)
    law = randomizer(oracle, monkeypatch)
    chances = {law(symbol, 0)[bytes([31])] for symbol in range(5)}
    assert chances == {oracle.chance**4 / 2}
    assert not oracle.add(np.zeros(6, np.int64), np.array([0]), np.array([[63]], np.uint8))[0], "a sixth bit"


def answers(oracle):
    """Who is asked which level; None where everybody is asked the same."""
    inner = getattr(oracle, "inner", oracle)
    return inner.assignment if inner.name == "haar" else getattr(inner, "levels_of", None)


def counts_of(oracle, sums):
    """All unbiased counts, in people; a person adds 1 or -1 to a coefficient, and two of them differ by 2."""
    if isinstance(oracle, PublicClasses):
        return np.concatenate([counts_of(oracle.inner, each) for each in sums])
    if isinstance(oracle, HaarOracle):
        return oracle.theta(sums) / 2
    return np.concatenate(oracle.counts(sums)) if isinstance(oracle, TreeOracle) else oracle.counts(sums)


@pytest.mark.parametrize("oracle", [each for each in ORACLES if each.name != "classes"], ids=name)
def test_no_report_reaches_further_than_is_stated_and_one_does(oracle):
    """Every accepted payload of a participant in the place of every other."""
    payloads = every_payload(oracle)
    farthest = 0.0
    levels = getattr(oracle, "levels", 1)
    for number in range(8):
        # others, so that levels have as many reports each: one at each level but that of the number
        others = np.zeros(oracle.shape, np.int64)
        if isinstance(oracle, TreeOracle) and oracle.assignment == "even":
            block = np.arange(levels) + number // levels * levels
            others_numbers = block[block != number]
            symbols = np.zeros(len(others_numbers), np.int64)
            source = KeyedSource.from_seed(number)
            reports = oracle.randomize(symbols, others_numbers, source=source)
            assert oracle.add(others, others_numbers, reports).all()
        found = []
        good = oracle.add(np.zeros(oracle.shape, np.int64), np.full(len(payloads), number), payloads)
        for row in payloads[good]:
            sums = others.copy()
            oracle.add(sums, np.array([number]), row[np.newaxis])
            found.append(counts_of(oracle, sums))
        farthest = max(farthest, float(np.max(np.ptp(np.array(found), axis=0))))
    assert farthest == pytest.approx(oracle.reach, rel=1e-6)


def test_a_report_about_public_classes_reaches_as_far_in_its_own_class():
    for inner in (RandomizedResponse(3, 1), UnaryOracle(3, 1), HaarOracle(5, 1)):
        assert PublicClasses(inner, 2).reach == inner.reach


TINY = [
    (RandomizedResponse(3, 1), 3),
    (UnaryOracle(2, 1), 3),
    (HaarOracle(3, 1), 3),
    (TreeOracle(2, 1), 3),
    (TreeOracle(3, 1, branching=3, nodes="unary"), 2),
    pytest.param(TreeOracle(4, 1, split="budget", nodes="unary"), 1, marks=pytest.mark.everything),
    (TreeOracle(2, 1, split="budget"), 3),
    (PublicClasses(RandomizedResponse(2, 1), 2), 3),
    pytest.param(PublicClasses(UnaryOracle(2, 1), 2), 2, marks=pytest.mark.everything),
]


@pytest.mark.parametrize(("oracle", "most"), TINY, ids=lambda value: name(value) if hasattr(value, "name") else "")
def test_possible_sums_are_those_of_some_reports_and_no_others(oracle, most):
    """All sums of all reports there are, against all vectors of small integers."""
    payloads = every_payload(oracle)
    single = set()
    for number in range(8):
        good = oracle.add(np.zeros(oracle.shape, np.int64), np.full(len(payloads), number), payloads)
        for row in payloads[good]:
            sums = np.zeros(oracle.shape, np.int64)
            assert oracle.add(sums, np.array([number]), row[np.newaxis])[0]
            single.add(tuple(sums.ravel().tolist()))
    reached = {(0,) * int(np.prod(oracle.shape))}
    for reports in range(most + 1):
        box = itertools.product(range(-max(reports, 1), reports + 2), repeat=int(np.prod(oracle.shape)))
        found = {sums for sums in box if oracle.possible(np.array(sums).reshape(oracle.shape), reports)}
        assert found == reached
        reached = {tuple(np.add(sums, one).tolist()) for sums in reached for one in single}


def described(oracle, participants=40):
    domain = Domain((Binning("x", Grid.linear(0, oracle.size, bins=oracle.size)),))
    if isinstance(oracle, PublicClasses):
        bins = Binning("x", Grid.linear(0, oracle.inner.size, bins=oracle.inner.size))
        domain = Domain((bins, Categories("class", tuple(range(oracle.classes)))))
    return Description(domain=domain, oracle=oracle, privacy=PureDP(1), participants=participants, id="2" * 32)


def reports_of(study, first, count):
    source = KeyedSource.from_seed(first)
    values = np.random.default_rng(first).uniform(0, study.oracle.size, count)
    return Randomizer(study, source=source).reports(values, first=first)


def resigned(data, change):
    """A state whose sums were changed by somebody who can compute a digest."""
    state = states.read_state(data)
    sums = state.sums.copy()
    change(sums)
    return states.write_state(states.State(state.description, state.counts, state.journal, sums, state.heard))


def move_one(sums):
    sums[0] += 1 << 62


def shift(sums):
    sums[:2] += 5, -5


@pytest.mark.parametrize("change", [move_one, shift])
@pytest.mark.parametrize(
    "oracle",
    [RandomizedResponse(6, 1), UnaryOracle(6, 1), HaarOracle(6, 1), TreeOracle(6, 1), TreeOracle(6, 1, split="budget")],
    ids=name,
)
def test_states_with_sums_that_no_reports_have_are_refused(oracle, change):
    found = Collection(described(oracle))
    found.add(reports_of(found.description, 0, 4))
    data = found.to_bytes()
    assert resigned(data, lambda sums: None) == data
    with pytest.raises(PeerError, match="its sums belong to other reports than it counts"):
        Collection.load(resigned(data, change))


LEVELLED = [oracle for oracle in ORACLES if answers(oracle) is not None]


@pytest.mark.parametrize("oracle", LEVELLED, ids=name)
def test_a_state_cannot_choose_what_its_participants_were_asked(oracle):
    """A state with each single honest report at another level: its sums are possible, its numbers say otherwise."""
    study = described(oracle)
    assignment = answers(oracle)
    numbers = np.array([0, 3, 7, 8, 21, 38, 39])
    rng = np.random.default_rng(3)
    table = {column.column: rng.integers(0, column.size, len(numbers)) for column in study.domain.columns}
    reports = Randomizer(study, source=KeyedSource(bytes(32))).reports(table, numbers=numbers)
    for place, number in enumerate(numbers.tolist()):
        honest = Collection(study)
        honest.add(reports)
        assert Collection.load(honest.to_bytes()).accepted == len(numbers)
        others = np.arange(40)[assignment.of(np.arange(40)) != assignment.of(numbers)[place]]
        one = reports[place * study.report_bytes :][: study.report_bytes]
        moved = one[:5] + int(others[0]).to_bytes(4, "little") + bytes([0] * oracle.payload_bytes)
        for report, sign in ((one, -1), (moved, 1)):
            part = Collection(study)
            part.add(report)
            assert part.accepted == 1
            honest._sums += sign * part._sums
        assert oracle.possible(honest._sums, len(numbers)), number
        with pytest.raises(PeerError, match="its reports answer other questions than the participants that it heard"):
            Collection.load(honest.to_bytes())


def test_there_are_oracles_of_every_kind_with_levels():
    assert {name(oracle).split("-")[0] for oracle in LEVELLED} == {"haar", "tree", "classes"}


@pytest.mark.parametrize("kind", ["duplicate", "malformed", "foreign"])
def test_counts_end_before_a_state_that_cannot_be_read_is_written(kind):
    study = described(RandomizedResponse(6, 1))
    forged = Collection(study)
    forged.add(reports_of(study, 0, 3))
    forged.counts = dataclasses.replace(forged.counts, **{kind: states.LARGEST_COUNT})
    forged = Collection.load(forged.to_bytes())
    found = Collection(study)
    found.add(reports_of(study, 20, 5) + b"cut")
    before = found.to_bytes()
    for one, other in ((found, forged), (forged, found)):
        with pytest.raises(PeerError, match="reports were refused, which is more than possible"):
            one.merge(other)
    assert found.to_bytes() == before
    again = reports_of(study, 0, 3)
    forged.add(again + b"cut")
    forged.add(b"\0" * study.report_bytes)
    assert getattr(Collection.load(forged.to_bytes()).counts, kind) == states.LARGEST_COUNT


def test_sums_that_overflow_to_the_right_total_are_refused():
    found = Collection(described(RandomizedResponse(6, 1)))
    found.add(reports_of(found.description, 0, 4))

    def overflow(sums):
        sums[:4] += np.array([1 << 62] * 4)  # 2^64 together, which is 0 in 64 bits

    assert int(states.read_state(resigned(found.to_bytes(), overflow)).sums.sum()) == 4
    with pytest.raises(PeerError, match="its sums belong to other reports than it counts"):
        Collection.load(resigned(found.to_bytes(), overflow))


def test_states_merged_in_any_order_are_the_same_bytes(tmp_path):
    study = described(TreeOracle(6, 1))
    paths = []
    for place in range(3):
        part = Collection(study)
        (tmp_path / f"{place}.reports").write_bytes(reports_of(study, 10 * place, 10))
        part.add(tmp_path / f"{place}.reports")
        part.save(tmp_path / f"{place}.state")
        paths.append(tmp_path / f"{place}.state")
    merged = set()
    for order in itertools.permutations(paths):
        found = Collection(study)
        found.add(order)
        merged.add(found.to_bytes())
    assert len(merged) == 1
    assert Collection.load(merged.pop()).accepted == 30


def test_the_header_of_a_state_follows_its_published_schema():
    schema = json.loads((files("ogive") / "schemas" / "local-partial-2.schema.json").read_text())
    found = Collection(described(TreeOracle(6, 1)))
    found.add(reports_of(found.description, 0, 10) + b"cut")
    found._journal.replace(None, hashlib.sha256(b"file").hexdigest(), 90)
    data = found.to_bytes(key=bytes(32))
    length = int.from_bytes(data[16:24], "little")
    header = json.loads(data[24 : 24 + length])
    jsonschema.validate(header, schema)
    sums = np.frombuffer(data, "<i8", found.sums.size, 24 + length)
    np.testing.assert_array_equal(sums, found.sums)
    heard = data[24 + length + 8 * found.sums.size : -32]
    assert [number for number in range(40) if heard[number // 8] >> number % 8 & 1] == list(range(10))
    assert hashlib.sha256(data[:-32]).digest() == data[-32:]
    assert len(header["read"]) == 1
    for change in ({"more": 1}, {"counts": {"accepted": -1}}, {"read": {"x": 1}}, {"key": "x"}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(header | change, schema)


def test_a_state_never_lists_more_files_than_it_can_be_read_with(monkeypatch):
    monkeypatch.setattr(journals, "MAX_FILES", 3)
    monkeypatch.setattr(states, "MAX_FILES", 3)
    study = described(RandomizedResponse(6, 1))
    parts = [Collection(study), Collection(study)]
    for place, part in enumerate(parts):
        part.add(reports_of(study, 10 * place, 10))
        for file in range(2):
            part._journal.replace(None, hashlib.sha256(bytes([place, file])).hexdigest(), 90)
    parts[0].merge(parts[1])
    assert len(states.read_state(parts[0].to_bytes(key=bytes(32))).journal.read) == 3


def test_a_state_without_end_is_not_read(tmp_path):
    with pytest.raises(ParameterError, match="cannot read /dev/zero: a partial state must be an ordinary file"):
        Collection.load("/dev/zero")
    with (tmp_path / "large").open("wb") as file:
        file.write(states.MAGIC)
        file.truncate(1 << 40)  # of which the disk holds a block
    for read in (Collection.load, Collection(described(RandomizedResponse(6, 1))).add):
        with pytest.raises(PeerError, match="too large: it may have at most 2147483648 bytes"):
            read(tmp_path / "large")


@pytest.mark.parametrize("as_file", [True, False], ids=["file", "pieces"])
def test_long_reports_are_held_a_few_at_a_time(as_file, tmp_path, monkeypatch):
    study = described(UnaryOracle(1 << 12, 1), participants=10_000)
    size = study.report_bytes
    report = reports_of(study, 0, 1)
    sources = (report[:5] + number.to_bytes(4, "little") + report[9:] for number in range(10_000))
    if as_file:
        (tmp_path / "reports").write_bytes(b"".join(sources))
        sources = tmp_path / "reports"
    found = Collection(study)
    found.add(report[:5] + (9_999).to_bytes(4, "little") + report[9:])  # compiled before memory is measured
    monkeypatch.setattr(collecting, "CHUNK_BYTES", 1 << 18)
    monkeypatch.setattr(journals, "_PIECE", 1 << 16)
    tracemalloc.start()
    try:
        counts = found.add(sources)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert counts == collecting.Counts(accepted=9_999, duplicate=1)
    assert peak < 8 * (1 << 18) < 10_000 * size / 2


class Failing(io.BytesIO):
    """A file on a disk that breaks after some bytes."""

    def read1(self, size=-1):
        if self.tell() >= 100:
            raise OSError(errno.EIO, "Input/output error")
        return super().read1(min(size, 50))


def test_a_disk_that_fails_is_no_malformed_report_and_reading_goes_on_later(tmp_path, monkeypatch):
    study = described(RandomizedResponse(6, 1))
    path = tmp_path / "reports"
    path.write_bytes(reports_of(study, 0, 30))
    found = Collection(study)
    monkeypatch.setattr(collecting, "CHUNK", 5)
    with monkeypatch.context() as patched:
        patched.setattr(journals.io, "BufferedReader", lambda file, size: _failing(file))
        with pytest.raises(ParameterError, match=r"cannot read on in .*reports: Input/output error"):
            found.add(path)
    assert found.counts == collecting.Counts(accepted=10)
    assert found.add(path) == collecting.Counts(accepted=20)


def _failing(file):
    with file:
        content = Failing(file.readall())
    content.peek = lambda size: content.getvalue()[:size]
    return content
