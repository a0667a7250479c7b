"""Keyed hashes of persons: the same of the same person in any table, and a sample of all."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from ogive.errors import DataError
from ogive.records import Records

KEY = bytes(range(32))
COUNT = 4096
NUMBERS = np.array([5, 7, 12, -3, 0, 10**17, 2**62])


def hashes(values, *, key=KEY, count=COUNT):
    return Records.of({"who": values, "x": np.zeros(len(values))}).person_hashes("who", key=key, count=count)


@pytest.mark.parametrize(
    "values",
    [
        NUMBERS.astype(float)[:5],
        NUMBERS[:5].astype(str),
        np.array(["5.0", "7.00", "12", "-3", "0"]),
        np.array([" 5", "007", "12 ", "-3", "00"]),
        np.array(["\uff15", "7", "12", "-3", "0"]),  # a wide five
        pd.Series(["5", "7", "12", "-3", "0"], dtype="category"),
        pa.array([5, 7, 12, -3, 0], pa.int8()),
        pa.chunked_array([[5, 7], [12, -3, 0, 5, 5]]),
    ],
    ids=["floats", "texts", "decimals", "padded", "wide", "categories", "bytes", "chunks"],
)
def test_a_number_is_the_same_person_however_it_is_written(values):
    assert np.array_equal(hashes(values), hashes(NUMBERS[:5]))


def test_large_numbers_are_the_same_person_as_their_digits():
    assert np.array_equal(hashes(NUMBERS), hashes(NUMBERS.astype(str)))


@pytest.mark.parametrize("other", ["ANNA", " anna", "Anna\t", "anna"])
def test_case_and_spaces_make_no_other_person(other):
    assert np.array_equal(hashes(np.array([other, "b"])), hashes(np.array(["Anna", "B"])))


def test_the_two_ways_to_write_an_umlaut_make_no_other_person():
    assert np.array_equal(hashes(np.array(["J\u00fcrgen"])), hashes(np.array(["Ju\u0308rgen"])))


def test_other_names_are_other_persons():
    """The control: nothing else is taken for one."""
    names = [*"abc", "a b", "ab", "a1", "a01", "1a", "1.5", "15", "1", "-1", "1e2", "é", "e", "x" * 16, "x" * 17]
    assert len(hashes(np.array(names))) == len(names)


def test_files_and_frames_have_the_same_persons(tmp_path):
    frame = pd.DataFrame({"who": [f"P{n}" for n in range(300)], "x": range(300)})
    frame.to_csv(tmp_path / "a.csv", index=False)
    frame.sample(frac=1, random_state=1).to_parquet(tmp_path / "a.parquet")
    found = [Records.of(data).person_hashes("who", key=KEY, count=COUNT) for data in
             (frame, tmp_path / "a.csv", tmp_path / "a.parquet", {"who": frame["who"].to_numpy()})]  # fmt: skip
    assert len(found[0]) == 300
    assert all(np.array_equal(each, found[0]) for each in found)


def test_the_smallest_hashes_are_a_sample_of_all_in_any_order():
    values = np.random.default_rng(1).permutation(600_000) // 2  # more than a batch, and each person twice
    found, everybody = hashes(values, count=500), hashes(values, count=400_000)
    assert len(everybody) == 300_000
    assert np.array_equal(found, everybody[:500])
    assert np.array_equal(found, hashes(np.arange(300_000), count=500))
    # as spread as uniform numbers: the largest of the smallest 500 of 300,000, within five standard deviations
    assert abs(found[-1] / 2**64 * 300_000 - 500) < 5 * 500**0.5


def test_another_key_gives_other_hashes():
    for values in (NUMBERS, np.array(["Anna", "B"])):
        assert not np.isin(hashes(values), hashes(values, key=bytes(32))).any()
    # numbers and texts are hashed with two halves of the key
    half = hashes(np.array([1, 2]), key=KEY[:16] + bytes(16))
    assert np.array_equal(half, hashes(np.array([1, 2])))


def test_a_missing_person_is_nobody_and_a_missing_column_is_refused():
    # whoever uses rows without a person is refused; here they are nobody's
    assert hashes(pa.array([1, None])).tolist() == hashes(pa.array([1])).tolist()
    assert hashes(np.array(["ann", "NA", " "])).tolist() == hashes(np.array(["ann"])).tolist()
    with pytest.raises(DataError, match="whom"):
        Records.of({"who": [1]}).person_hashes("whom", key=KEY, count=COUNT)


def test_hash_of_a_number_is_siphash():
    """Against the authors' vector: SipHash-2-4 of the bytes 0 to 7 under the key of bytes 0 to 15."""
    number = int.from_bytes(bytes(range(8)), "little")
    key = bytes(range(16)) + bytes(16)
    assert hashes(np.array([number]), key=key).tolist() == [0x93F5F5799A932462]
    # texts have the other half
    text = hashes(np.array(["zebra"]), key=bytes(16) + bytes(range(16)))
    assert text.tolist() != hashes(np.array(["zebra"])).tolist()
