"""What a partial state tells of the files that were read: to who has the key which they are, to nobody else."""

import hashlib
import hmac
import pickle

import numpy as np
import pytest

import ogive
from ogive import Grid, ParameterError, PureDP
from ogive.columns import Binning, Domain
from ogive.local import Collection, Description, RandomizedResponse, Randomizer
from ogive.local import collection as collecting
from ogive.local.states import read_state
from ogive.noise import KeyedSource

PEOPLE = 40
STUDY = Description(
    domain=Domain((Binning("x", Grid.linear(0, 6, bins=6)),)),
    oracle=RandomizedResponse(6, 1),
    privacy=PureDP(1),
    participants=PEOPLE,
    id="3" * 32,
)
KEY, OTHER = bytes(range(32)), bytes(range(1, 33))


def own_files(folder, study=STUDY, people=PEOPLE):
    """A file of one report for each device."""
    values = np.random.default_rng(3).uniform(0, 6, people)
    made = Randomizer(study, source=KeyedSource(bytes(32))).reports(values)
    size, paths = study.report_bytes, []
    for number in range(people):
        paths.append(folder / f"{number}.report")
        paths[-1].write_bytes(made[number * size : (number + 1) * size])
    return paths


def found_out(data, entry):
    """Reports that somebody finds who has the state, by trying all that there may be."""
    state = read_state(data)
    size = state.description.oracle.payload_bytes
    head = b"\x01" + state.description.tag
    tried = (
        head + number.to_bytes(4, "little") + payload.to_bytes(size, "little")
        for number in range(state.description.participants)
        for payload in range(256**size)
    )
    return {report for report in tried if entry(report) in state.journal.read}


def sealed(key):
    return lambda report: hmac.new(key, b"ogive file " + hashlib.sha256(report).digest(), hashlib.sha256).hexdigest()


def test_no_report_is_found_in_a_state_by_who_lacks_the_key(tmp_path):
    files = own_files(tmp_path)
    found = Collection(STUDY)
    found.add(files)
    data = found.to_bytes(key=KEY)
    assert len(read_state(data).journal.read) == PEOPLE
    guesses = [lambda report: hashlib.sha256(report).hexdigest(), sealed(b""), sealed(OTHER)]
    guesses.append(sealed(bytes.fromhex(read_state(data).journal.key)))
    for guess in guesses:
        assert not found_out(data, guess)
    # the control: who has the key finds every one
    assert found_out(data, sealed(KEY)) == {path.read_bytes() for path in files}
    assert KEY not in data
    assert KEY.hex().encode() not in data


def test_without_a_key_no_file_is_listed(tmp_path):
    found = Collection(STUDY)
    found.add(own_files(tmp_path))
    found.save(tmp_path / "state")
    assert found.counts == collecting.Counts(accepted=PEOPLE)
    assert read_state(tmp_path / "state").journal.read == {}
    one_by_one = Collection(STUDY)
    one_by_one.add(path.read_bytes() for path in own_files(tmp_path))
    assert found.to_bytes() == one_by_one.to_bytes()


def test_a_copy_of_a_collection_holds_no_digest_of_a_report(tmp_path):
    files = own_files(tmp_path)
    found = Collection(STUDY)
    found.add(files)
    data = pickle.dumps(found)
    for path in files:
        digest = hashlib.sha256(path.read_bytes())
        assert digest.hexdigest().encode() not in data
        assert digest.digest() not in data
    copy = pickle.loads(data)
    assert copy.digest() == found.digest()
    assert copy.add(files[0]) == collecting.Counts(duplicate=1)
    assert found.add(files[0]) == collecting.Counts()


def test_who_has_the_key_goes_on_where_it_was(tmp_path):
    files = own_files(tmp_path)
    begun = Collection(STUDY)
    begun.add(files[:25])
    begun.save(tmp_path / "state", key=KEY)
    again = Collection.load(tmp_path / "state", key=KEY)
    assert again.add(files) == collecting.Counts(accepted=15)
    whole = Collection(STUDY)
    whole.add(files)
    assert again.to_bytes(key=KEY) == whole.to_bytes(key=KEY)
    assert Collection.load(again.to_bytes(key=KEY), key=KEY).add(files) == collecting.Counts()


@pytest.mark.parametrize("key", [None, OTHER], ids=["none", "another"])
def test_without_the_key_files_are_read_again_and_the_estimate_is_the_same(tmp_path, key):
    study = ogive.describe_collection(
        ogive.Ecdf("x", bounds=(0, 6), bins=6), privacy=ogive.PureDP(1), participants=PEOPLE
    )
    files = own_files(tmp_path, study)
    begun = Collection(study)
    begun.add(files[:25])
    begun.save(tmp_path / "state", key=KEY)
    again = Collection.load(tmp_path / "state", key=key)
    assert again.add(files) == collecting.Counts(accepted=15, duplicate=25)
    whole = Collection(study)
    whole.add(files)
    first, second = (ogive.estimate_collection(part) for part in (again, whole))
    assert first.with_provenance(second.provenance) == second
    # what it cannot use it does not hand on
    again.save(tmp_path / "state", key=key)
    listed = read_state(tmp_path / "state").journal
    assert not set(listed.read) & set(read_state(begun.to_bytes(key=KEY)).journal.read)
    assert len(listed.read) == (0 if key is None else PEOPLE)


def test_states_of_other_aggregators_merge_and_their_lists_are_dropped(tmp_path):
    files = own_files(tmp_path)
    for name, key, part in (("north", KEY, files[:20]), ("south", OTHER, files[20:])):
        found = Collection(STUDY)
        found.add(part)
        found.save(tmp_path / name, key=key)
    merged = Collection(STUDY)
    assert merged.add([tmp_path / "north", tmp_path / "south"]) == collecting.Counts(accepted=PEOPLE)
    assert merged.add(tmp_path / "south") == collecting.Counts(), "the state itself is known"
    assert len(read_state(merged.to_bytes(key=OTHER)).journal.read) == 2
    whole = Collection(STUDY)
    whole.add(files)
    assert merged.digest() == whole.digest()
    # of two aggregators with one key, lists are joined; of two with different keys, each keeps its own
    for key, known in ((KEY, PEOPLE), (OTHER, 20)):
        north = Collection.load(tmp_path / "north", key=KEY)
        south = Collection(STUDY)
        south.add(files[20:])
        north.merge(Collection.load(south.to_bytes(key=key), key=key))
        assert len(read_state(north.to_bytes(key=KEY)).journal.read) == known
        assert north.add(files) == collecting.Counts(duplicate=PEOPLE - known)


def test_keys_are_random_and_what_is_none_is_refused(tmp_path):
    keys = {Collection.new_key() for _ in range(100)}
    assert len(keys) == 100
    assert {len(key) for key in keys} == {32}
    found = Collection(STUDY)
    for wrong in (b"short", "k" * 32, bytes(33), 7):
        for use in (found.to_bytes, lambda key: found.save(tmp_path / "state", key=key)):
            with pytest.raises(ParameterError, match="the key of a partial state must be 32 bytes"):
                use(key=wrong)
        with pytest.raises(ParameterError, match="the key of a partial state must be 32 bytes"):
            Collection.load(found.to_bytes(), key=wrong)
    assert not (tmp_path / "state").exists()
