"""Adding reports up: in any order and any pieces, once each, whatever else the bytes may hold."""

import gzip
import hashlib
import os

import numpy as np
import pytest
from helpers.scope import is_everything, size
from hypothesis import given, settings
from hypothesis import strategies as st

from ogive import Grid, ParameterError, PeerError, PureDP
from ogive.columns import Binning, Domain, Label
from ogive.local import (
    Collection,
    Description,
    HaarOracle,
    PublicClasses,
    RandomizedResponse,
    Randomizer,
    TreeOracle,
    UnaryOracle,
)
from ogive.local import collection as collecting
from ogive.local.states import MAGIC
from ogive.noise import KeyedSource


def described(size=6, oracle=None, participants=40, **fields):
    domain = Domain((Binning("x", Grid.linear(0, size, bins=size)),))
    return Description(
        domain=domain,
        oracle=oracle or RandomizedResponse(size, 1),
        privacy=PureDP(1),
        participants=participants,
        id="1" * 32,
        **fields,
    )


def labelled(oracle, classes=2):
    columns = (Binning("x", Grid.linear(0, oracle.size, bins=oracle.size)), Label("y"))
    return Description(
        domain=Domain(columns),
        oracle=PublicClasses(oracle, classes),
        privacy=PureDP(1),
        participants=40,
    )


STUDIES = {
    "krr": described(),
    "unary": described(oracle=UnaryOracle(6, 1)),
    "haar": described(oracle=HaarOracle(6, 1)),
    "tree": described(oracle=TreeOracle(6, 1)),
    "tree_unary": described(oracle=TreeOracle(6, 1, nodes="unary", branching=3)),
    "budget": described(oracle=TreeOracle(6, 1, split="budget")),
    "classes": labelled(HaarOracle(4, 1)),
}


def reports_of(study, people, *, first=0, seed=0):
    """One honest report each, as rows of bytes."""
    rng = np.random.default_rng(seed)
    source = KeyedSource(bytes([seed]) * 32)
    columns = [
        rng.uniform(0, column.size, people) if column.column == "x" else rng.integers(0, 2, people)
        for column in study.domain.columns
    ]
    table = {column.column: values for column, values in zip(study.domain.columns, columns, strict=True)}
    made = Randomizer(study, source=source).reports(table, first=first)
    return [made[start : start + study.report_bytes] for start in range(0, len(made), study.report_bytes)]


def numbered(report, number):
    return report[:5] + number.to_bytes(4, "little") + report[9:]


class Slow:
    """The same rules, one report at a time, from their words."""

    def __init__(self, study):
        self.study = study
        self.sums = np.zeros(study.oracle.shape, dtype=np.int64)
        self.heard = set()
        self.counts = dict.fromkeys(("accepted", "duplicate", "malformed", "foreign"), 0)

    def add(self, report):
        self.counts[self.judge(report)] += 1

    def judge(self, report):
        if len(report) != self.study.report_bytes:
            return "malformed"
        if report[0] != 1 or report[1:5] != self.study.digest[:4]:
            return "foreign"
        number = int.from_bytes(report[5:9], "little")
        if number >= self.study.participants:
            return "malformed"
        if number in self.heard:
            return "duplicate"
        payload = np.frombuffer(report[9:], np.uint8)[None, :]
        if not self.study.oracle.add(self.sums, np.array([number]), payload)[0]:
            return "malformed"
        self.heard.add(number)
        return "accepted"


def same(found, slow):
    assert found.counts == collecting.Counts(**slow.counts)
    np.testing.assert_array_equal(found.sums, slow.sums)
    assert {number for number in range(found.description.participants) if found.heard(number)} == slow.heard
    assert found.missing == found.description.participants - len(slow.heard)


@pytest.mark.parametrize("name", STUDIES)
def test_honest_reports_are_added_up_in_any_order(name):
    study = STUDIES[name]
    reports = reports_of(study, 40)
    slow = Slow(study)
    for report in reports:
        slow.add(report)
    same(found := Collection(study.to_json()), Slow(study))
    assert found.add(b"".join(reports)) == collecting.Counts(accepted=40)
    same(found, slow)
    shuffled = Collection(study)
    order = np.random.default_rng(2).permutation(40)
    shuffled.add(reports[place] for place in order)
    np.testing.assert_array_equal(shuffled.sums, found.sums)
    assert str(shuffled.counts) == "40 reports accepted"
    assert study.oracle.reports(found.sums) == 40


BYTES = st.binary(max_size=40)


@settings(max_examples=size(150, part=30), deadline=None)
@given(data=st.data(), name=st.sampled_from(sorted(STUDIES)), chunk=st.sampled_from([1, 2, 3, 7, 1 << 20]))
def test_any_pieces_follow_the_rules(data, name, chunk):
    study = STUDIES[name]
    honest = reports_of(study, 12)
    foreign = reports_of(described(title="another"), 1)[0][: study.report_bytes].ljust(study.report_bytes, b"\0")
    pieces = data.draw(
        st.lists(
            st.one_of(
                st.sampled_from(honest),
                st.just(foreign),
                st.binary(min_size=study.report_bytes, max_size=study.report_bytes),
                st.builds(numbered, st.sampled_from(honest), st.integers(0, 50)),
                st.builds(
                    lambda report, payload: report[:9] + payload[: len(report) - 9].ljust(len(report) - 9, b"\xff"),
                    st.sampled_from(honest),
                    BYTES,
                ),
                st.builds(lambda report, stop: report[:stop], st.sampled_from(honest), st.integers(1, 8)),
            ),
            max_size=30,
        )
    )
    slow = Slow(study)
    for piece in pieces:
        slow.add(piece)
    previous, collecting.CHUNK = collecting.CHUNK, chunk
    try:
        found = Collection(study)
        counts = found.add(pieces)
    finally:
        collecting.CHUNK = previous
    assert counts == found.counts
    # which cut pieces are counted when makes no difference to anything else
    same(found, slow)


@settings(max_examples=150, deadline=None)
@given(noise=st.binary(max_size=200), name=st.sampled_from(sorted(STUDIES)))
def test_any_bytes_are_counted_and_never_crashed_on(noise, name):
    study = STUDIES[name]
    found = Collection(study)
    counts = found.add(noise)
    pieces = len(noise) // study.report_bytes + (len(noise) % study.report_bytes > 0)
    assert counts.accepted + counts.refused == pieces
    assert study.oracle.reports(found.sums) == counts.accepted


def test_a_malformed_report_does_not_use_up_its_number():
    study = STUDIES["krr"]
    good = numbered(reports_of(study, 1)[0], 7)
    bad = good[:9] + b"\xff"
    found = Collection(study)
    assert found.add(bad + bad + good + bad + good) == collecting.Counts(accepted=1, malformed=2, duplicate=2)
    again = Collection(study)
    again.add(bad)
    again.add(good)
    np.testing.assert_array_equal(again.sums, found.sums)
    assert found.heard(7)
    assert not found.heard(6)


def test_of_several_reports_of_one_number_the_first_counts():
    study = STUDIES["krr"]
    first, second = (numbered(bytes([*reports_of(study, 1)[0][:9], symbol]), 3) for symbol in (2, 4))
    found = Collection(study)
    found.add(first + second)
    assert found.sums.tolist() == [0, 0, 1, 0, 0, 0]
    assert str(found.counts) == "1 report accepted; 1 refused: of participants who had reported before"


def test_refusals_are_told_by_kind():
    found = Collection(STUDIES["krr"])
    one = reports_of(STUDIES["krr"], 1)[0]
    found.add([one, one, b"\x02" + one[1:], one[:1] + b"abcd" + one[5:], numbered(one, 40), one[:4]])
    assert found.counts == collecting.Counts(accepted=1, duplicate=1, malformed=2, foreign=2)
    assert found.counts.refused == 5
    assert str(found.counts).endswith("2 refused: malformed; 2 refused: not to this description")


@pytest.mark.parametrize("source", [7, None, [7], [b"", 1.5]], ids=repr)
def test_what_is_no_report_at_all_is_refused(source):
    with pytest.raises(ParameterError, match="reports must be bytes, files or several of them, got"):
        Collection(STUDIES["krr"]).add(source)


def test_a_number_out_of_range_was_not_heard():
    for number in (-1, 40):
        with pytest.raises(ParameterError, match="the numbers 0 to 39"):
            Collection(STUDIES["krr"]).heard(number)


SMALL = {
    "krr": described(oracle=RandomizedResponse(5, "1/2"), size=5, participants=9),
    "unary": described(oracle=UnaryOracle(5, "1/2"), size=5, participants=9),
    "haar": described(oracle=HaarOracle(8, "1/2"), size=8, participants=9),
    "haar_padded": described(oracle=HaarOracle(5, "1/2", weights="uniform"), size=5, participants=9),
    "tree": described(oracle=TreeOracle(8, "1/2"), size=8, participants=9),
    "tree_padded": described(oracle=TreeOracle(5, "1/2", branching=3), size=5, participants=9),
    "tree_unary": described(oracle=TreeOracle(5, "1/2", nodes="unary"), size=5, participants=9),
}


@pytest.mark.parametrize("name", SMALL)
def test_a_hostile_report_moves_sums_no_more_than_an_honest_one(name):
    """Whatever is accepted is what an honest device sends for some value, with positive probability."""
    study = SMALL[name]
    head = reports_of(study, 1)[0][:9]
    width = study.report_bytes - 9
    assert width <= 2
    everything = [payload.to_bytes(width, "little") for payload in range(256**width)]
    source = KeyedSource(bytes(32))
    for number in range(0, study.participants, 1 if is_everything() else 3):
        symbols = np.tile(np.arange(study.oracle.size), 3000)
        payloads = study.oracle.randomize(symbols, np.full(len(symbols), number), source=source)
        honest = {payload.tobytes() for payload in payloads}
        found = Collection(study)
        hostile = set()
        for payload in everything:
            before = found.accepted
            found.add(numbered(head + payload, number))
            if found.accepted > before:
                hostile.add(payload)
                found = Collection(study)
        assert hostile == honest


def test_a_payload_that_nobody_sends_would_be_noticed():
    """The control of the test above: an oracle that accepts anything is caught by comparing the two sets."""
    study = SMALL["krr"]
    accepted = {payload for payload in range(256) if payload < study.oracle.size or payload == 77}
    assert accepted != set(study.oracle.randomize(np.arange(5), np.arange(5), source=KeyedSource(bytes(32))).ravel())


def spread(reports, folder, names):
    """Reports dealt out to files."""
    paths = []
    for place, name in enumerate(names):
        path = folder / name
        content = b"".join(reports[place :: len(names)])
        path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
        paths.append(path)
    return paths


def test_files_are_added_in_any_order_zipped_or_not(tmp_path):
    study = STUDIES["tree"]
    reports = reports_of(study, 40)
    whole = Collection(study)
    whole.add(b"".join(reports))
    one, two, three = spread(reports, tmp_path, ["a.bin", "b.gz", "c"])
    for files in ([one, two, three], [three, str(one), two]):
        found = Collection(study)
        assert found.add(files) == collecting.Counts(accepted=40)
        np.testing.assert_array_equal(found.sums, whole.sums)
    assert found.add(reports[0]) == collecting.Counts(duplicate=1)


def test_a_file_is_known_by_its_content(tmp_path):
    study = STUDIES["krr"]
    reports = reports_of(study, 40)
    (path,) = spread(reports[:20], tmp_path, ["a"])
    found = Collection(study)
    found.add(path)
    copy = tmp_path / "copy"
    copy.write_bytes(path.read_bytes())
    assert found.add([path, copy]) == collecting.Counts()
    with path.open("ab") as file:
        file.write(b"".join(reports[20:]) + b"cut")
    assert found.add(path) == collecting.Counts(accepted=20, malformed=1)
    assert found.add(path) == collecting.Counts()
    path.write_bytes(b"".join(reports[::-1]))
    assert found.add(path) == collecting.Counts(duplicate=40)


def test_a_file_that_was_half_read_goes_on_from_there(tmp_path, monkeypatch):
    monkeypatch.setattr(collecting, "CHUNK", 8)
    study = STUDIES["haar"]
    reports = reports_of(study, 40)
    (path,) = spread(reports, tmp_path, ["a.gz"])
    states = []
    found = Collection(study)
    key = Collection.new_key()
    found.add(path, progress=lambda counts: states.append(found.to_bytes(key=key)))
    assert len(states) == 6
    for state in states:
        resumed = Collection.load(state, key=key)
        before = resumed.accepted
        assert resumed.add(path) == collecting.Counts(accepted=40 - before)
        assert resumed.to_bytes(key=key) == found.to_bytes(key=key)
        # without the key the file is read from its beginning, and the sums are the same
        forgetful = Collection.load(state)
        assert forgetful.add(path) == collecting.Counts(accepted=40 - before, duplicate=before)
        assert forgetful.digest() == found.digest()


@pytest.mark.parametrize("name", ["a.bin", "a.gz"])
def test_a_file_that_was_cut_off_gives_what_it_has(tmp_path, name):
    study = STUDIES["unary"]
    rng = np.random.default_rng(5)
    reports = reports_of(study, 40)
    (path,) = spread(reports, tmp_path, [name])
    content = path.read_bytes()
    path.write_bytes(content[:-5])
    found = Collection(study)
    counts = found.add(path)
    assert counts.malformed == 1
    assert counts.accepted + counts.refused <= 41
    assert counts.accepted == (40 if name == "a.gz" else 39)  # packed, the last bytes are a checksum
    again = Collection(study)
    path.write_bytes(content[:30] + rng.bytes(20) + content[50:])
    counts = again.add(path)
    assert counts.accepted + counts.refused <= 41
    assert counts.refused > 0


@pytest.mark.parametrize(
    ("damaged", "accepted"),
    [
        (lambda packed: packed + b"junk", 40),
        (lambda packed: packed + packed, 40),
        (lambda packed: packed[: len(packed) // 2], range(10, 40)),
        (lambda packed: packed[:-8] + b"\0" * 8, 40),
        (lambda packed: packed[:12], 0),
    ],
    ids=["followed", "twice", "half", "checksum", "beginning"],
)
def test_reports_before_damage_of_a_packed_file_count(tmp_path, damaged, accepted):
    study = STUDIES["unary"]
    path = tmp_path / "a.gz"
    path.write_bytes(damaged(gzip.compress(b"".join(reports_of(study, 40)))))
    counts = Collection(study).add(path)
    assert counts.accepted in (accepted if isinstance(accepted, range) else [accepted])
    assert counts.malformed + counts.duplicate > 0


def test_files_that_cannot_be_read_are_named(tmp_path):
    for path in (tmp_path, tmp_path / "none"):
        with pytest.raises(ParameterError, match=f"cannot read {path}: "):
            Collection(STUDIES["krr"]).add(path)
    empty = tmp_path / "empty"
    empty.write_bytes(b"")
    assert Collection(STUDIES["krr"]).add(empty) == collecting.Counts()


def test_pipes_can_be_read(tmp_path):
    import threading

    study = STUDIES["krr"]
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(b"".join(reports_of(study, 40))))
    writer.start()
    assert Collection(study).add(pipe) == collecting.Counts(accepted=40)
    writer.join()


def test_partial_states_merge_to_the_same_sums_in_any_order(tmp_path):
    study = STUDIES["tree"]
    reports = reports_of(study, 40)
    whole = Collection(study)
    whole.add(b"".join(reports))
    paths = []
    for place in range(3):
        part = Collection(study)
        part.add([*reports[place::3], b"junk"])
        part.save(tmp_path / f"{place}.state")
        paths.append(tmp_path / f"{place}.state")
    for order in ([0, 1, 2], [2, 0, 1], [1, 2, 0]):
        found = Collection(study)
        found.add([paths[place] for place in order])
        np.testing.assert_array_equal(found.sums, whole.sums)
        assert found.counts == collecting.Counts(accepted=40, malformed=3)
        assert found.digest() == whole.digest()
        assert found.add(paths[1]) == collecting.Counts(), "it was merged before"


def test_states_that_share_participants_are_refused_and_change_nothing():
    study = STUDIES["krr"]
    reports = reports_of(study, 40)
    first, second = Collection(study), Collection(study)
    first.add(reports[:25])
    second.add(reports[20:])
    before = first.to_bytes()
    with pytest.raises(PeerError, match=r"^5 participants are in both partial states"):
        first.merge(second)
    assert first.to_bytes() == before


def test_states_of_another_description_are_refused():
    with pytest.raises(PeerError, match="of another description"):
        Collection(STUDIES["krr"]).merge(Collection(STUDIES["haar"]))


@pytest.mark.parametrize("name", STUDIES)
def test_a_state_is_read_as_it_was_written(name, tmp_path):
    study = STUDIES[name]
    found = Collection(study)
    found.add([*reports_of(study, 25), b"junk", reports_of(study, 1)[0]])
    found.save(tmp_path / "state")
    again = Collection.load(tmp_path / "state")
    assert again.description == study
    assert (again.counts, again.missing) == (found.counts, 15)
    np.testing.assert_array_equal(again.sums, found.sums)
    assert again.to_bytes() == found.to_bytes()
    assert again.add(reports_of(study, 26)) == collecting.Counts(accepted=1, duplicate=25)


def state():
    found = Collection(STUDIES["krr"])
    found.add(reports_of(STUDIES["krr"], 25))
    return found.to_bytes()


def signed(body):
    return body + hashlib.sha256(body).digest()


@settings(max_examples=200, deadline=None)
@given(place=st.integers(0, 10_000), bit=st.integers(0, 7), cut=st.booleans(), repaired=st.booleans())
def test_damaged_states_are_refused_in_one_line(place, bit, cut, repaired):
    data = bytearray(state())
    place %= len(data)
    if cut:
        del data[place:]
    else:
        data[place] ^= 1 << bit
    data = signed(bytes(data[:-32])) if repaired else bytes(data)
    if repaired and not cut and place >= len(data) - 32:
        return
    try:
        found = Collection.load(data)
    except PeerError as problem:
        assert "\n" not in str(problem)  # noqa: PT017
    else:
        # whoever signs anew can write any other valid state
        assert repaired
        assert found.to_bytes() == data or found.counts.accepted == 25


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data: b"", "not a partial state of this version"),
        (lambda data: b"x" * 500, "not a partial state of this version"),
        (lambda data: MAGIC, "damaged or was cut off"),
        (lambda data: data[:-1], "damaged or was cut off"),
        (lambda data: signed(data[:-33]), "its length does not fit its description"),
        (lambda data: signed(data[:-32] + b"x"), "its length does not fit its description"),
        (lambda data: signed(MAGIC + b"\xff" * 8 + data[24:-32]), "no readable header"),
        (lambda data: signed(MAGIC + (2).to_bytes(8, "little") + b"[]"), "must have description, counts, key and read"),
        (lambda data: signed(data[:-32].replace(b'"accepted": 25', b'"accepted": 26')), "other participants than it"),
        (lambda data: signed(data[:-32].replace(b'"accepted": 25', b'"accepted": -5')), "must be whole numbers"),
        (lambda data: signed(data[:-32].replace(b'"read": {}', b'"read": []')), "list the files that were read"),
        (lambda data: signed(data[:-32].replace(b'"key": ""', b'"key": 12')), "must name the key of the files"),
        (lambda data: signed(data[:-32].replace(b"partial 2", b"partial 1")), "not a partial state of this version"),
        (lambda data: signed(data[:-33] + b"\xff"), "other participants than it counts"),
        (
            lambda data: signed(data[:-85] + bytes([data[-85] ^ 1]) + data[-84:-32]),
            "its sums belong to other reports than it counts",
        ),
    ],
)
def test_states_that_contradict_themselves_are_refused(change, message):
    with pytest.raises(PeerError, match=message):
        Collection.load(change(state()))


def test_participants_that_there_are_not_cannot_be_heard():
    study = described(participants=39)
    data = Collection(study).to_bytes()
    with pytest.raises(PeerError, match="lists more participants than there are"):
        Collection.load(signed(data[:-33] + b"\x80"))


def test_a_state_that_cannot_be_read_or_written_is_named(tmp_path):
    with pytest.raises(ParameterError, match=r"cannot read .*none: No such file"):
        Collection.load(tmp_path / "none")
    with pytest.raises(ParameterError, match="cannot write"):
        Collection(STUDIES["krr"]).save(tmp_path / "no" / "state")
