"""One person is one teacher, and nobody else moves."""

import hashlib
import struct

import numpy as np
import pytest
from scipy import sparse, stats

from ogive.errors import DataError, ParameterError
from ogive.pate.teachers import Partition, partition


@pytest.mark.parametrize(("rows", "teachers"), [(10, 3), (12, 4), (1000, 7), (250, 250)])
def test_rows_are_dealt_evenly_and_each_once(rows, teachers):
    found = partition(rows, teachers, seed=5)
    assert found.teachers == teachers
    assert set(found.sizes.tolist()) <= {rows // teachers, -(-rows // teachers)}
    everyone = np.concatenate([found.rows(teacher) for teacher in range(teachers)])
    assert sorted(everyone.tolist()) == list(range(rows))


def test_rows_are_dealt_by_their_place_whatever_they_hold():
    draw = np.random.default_rng(1)
    one, other = draw.normal(size=(50, 3)), draw.normal(size=(50, 3))
    parts = partition(50, 6, seed=2).parts
    for table in (one, other, one.tolist(), sparse.csr_array(one), {"a": one[:, 0], "b": one[:, 1]}):
        assert (partition(table, 6, seed=2).parts == parts).all()
    assert (partition(50, 6, seed=3).parts != parts).any()


def test_neighbouring_rows_go_to_teachers_as_if_drawn():
    parts = partition(60_000, 10, seed=4).parts
    pairs = np.bincount(10 * parts[:-1:2] + parts[1::2], minlength=100)
    # level 1e-6, 30,000 pairs; rows dealt in turn put all pairs into ten cells
    assert stats.chisquare(pairs).pvalue > 1e-6
    in_turn = np.arange(60_000) % 10
    control = np.bincount(10 * in_turn[:-1:2] + in_turn[1::2], minlength=100)
    assert stats.chisquare(control).pvalue < 1e-6


def test_all_rows_of_a_person_lie_with_one_teacher():
    persons = np.random.default_rng(3).integers(0, 400, 3000)
    found = partition(3000, 20, person=persons, seed=7)
    for person in np.unique(persons):
        assert len(set(found.parts[persons == person].tolist())) == 1
    counted = np.bincount(found.parts[np.unique(persons, return_index=True)[1]], minlength=20)
    # 400 persons at level 1e-6; persons dealt by their last digit reach half of the teachers
    assert stats.chisquare(counted).pvalue > 1e-6
    assert stats.chisquare(np.bincount(np.arange(400) % 10, minlength=20)).pvalue < 1e-6


@pytest.mark.parametrize("names", [[str(n) + "x" for n in range(300)], list(range(300))], ids=["texts", "numbers"])
def test_a_person_less_or_more_moves_nobody_else(names):
    whole = partition(300, 10, person=names, seed=1).parts
    for gone in (0, 17, 299):
        rest = [name for name in names if name != names[gone]]
        assert (partition(299, 10, person=rest, seed=1).parts == np.delete(whole, gone)).all()
    shuffled = np.random.default_rng(2).permutation(300)
    assert (partition(300, 10, person=[names[n] for n in shuffled], seed=1).parts == whole[shuffled]).all()


def test_a_person_is_named_by_a_column_or_by_values():
    table = {"who": ["a", "b", "a", "c", "b"], "x": [1, 2, 3, 4, 5]}
    by_name = partition(table, 2, person="who", seed=9)
    by_value = partition(5, 2, person=table["who"], seed=9)
    assert (by_name.parts == by_value.parts).all()
    pandas = pytest.importorskip("pandas")
    assert (partition(pandas.DataFrame(table), 2, person="who", seed=9).parts == by_name.parts).all()


def sip_hash(words, key):
    """SipHash-2-4 with Python's whole numbers, from the paper's figure."""
    mask = (1 << 64) - 1
    v = [
        key[0] ^ 0x736F6D6570736575,
        key[1] ^ 0x646F72616E646F6D,
        key[0] ^ 0x6C7967656E657261,
        key[1] ^ 0x7465646279746573,
    ]

    def turn(x, bits):
        return (x << bits | x >> (64 - bits)) & mask

    def rounds(count):
        for _ in range(count):
            for a, b, bits, half in ((0, 1, 13, True), (2, 3, 16, False), (0, 3, 21, False), (2, 1, 17, True)):
                v[a] = (v[a] + v[b]) & mask
                v[b] = turn(v[b], bits) ^ v[a]
                if half:
                    v[a] = turn(v[a], 32)

    for word in [*words, (8 * len(words) % 256) << 56]:
        v[3] ^= word
        rounds(2)
        v[0] ^= word
    v[2] ^= 0xFF
    rounds(4)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


def test_a_persons_teacher_is_a_keyed_hash_of_the_name():
    persons = [3, 17, 123456789, 2**40]
    digest = hashlib.sha256(b"ogive teachers 1\n" + b"42").digest()
    key = [each >> 1 for each in struct.unpack("<2Q", digest[:16])]
    wanted = [(sip_hash([0, person], key) >> 32) * 4 >> 32 for person in persons]
    assert partition(4, 4, person=persons, seed=42).parts.tolist() == wanted


def test_seeds_deal_persons_anew():
    one, other = (partition(500, 5, person=np.arange(500), seed=seed).parts for seed in (1, 2))
    # independent parts agree for a fifth of 500 persons; six standard deviations are 0.11
    assert abs((one == other).mean() - 0.2) < 0.11


@pytest.mark.parametrize(
    ("arguments", "kind", "message"),
    [
        ({"teachers": 1}, ParameterError, "from 2"),
        ({"teachers": True}, ParameterError, "from 2"),
        ({"teachers": 65_537}, ParameterError, "65536"),
        ({"seed": -1}, ParameterError, "seed"),
        ({"seed": 0.5}, ParameterError, "seed"),
        ({"records": 3}, DataError, "3 rows are too few for 4"),
        ({"records": 7.5}, ParameterError, "float"),
        ({"records": 8, "person": [1, 2]}, DataError, "2 persons for 8 rows"),
        ({"records": 8, "person": [1, 1, 1, 1, 2, 2, 2, 2]}, DataError, "2 persons are too few"),
        ({"records": 4, "person": [1, 2, 3, None]}, DataError, "missing values.* before the rows are dealt$"),
        (
            {"records": {"a": ["P1", "P2", " na"]}, "person": "a"},
            DataError,
            "missing values.* before the rows are dealt$",
        ),
        ({"records": 4, "person": [True, False, True, False]}, DataError, "truth values"),
        ({"records": {"a": [1, 2, 3, 4]}, "person": "b"}, ParameterError, "'b'"),
        ({"records": {"a": []}, "person": "a"}, DataError, "no rows"),
    ],
)
def test_what_cannot_be_dealt_is_refused_in_one_line(arguments, kind, message):
    given = {"records": 100, "teachers": 4, "seed": 0, **arguments}
    with pytest.raises(kind, match=message) as caught:
        partition(given.pop("records"), given.pop("teachers"), **given)
    assert "\n" not in str(caught.value)


def test_a_teacher_may_be_left_without_rows():
    found = Partition(3, np.array([0, 2, 2]))
    assert found.sizes.tolist() == [1, 0, 2]
    assert found.rows(1).tolist() == []
