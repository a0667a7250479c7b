"""Labels and the hash of labeled fields."""

import hashlib
import re

import pytest

from ogive.crypto.domains import HashDomain, digest, number


def test_labels_are_distinct_and_of_one_form():
    values = [label.value for label in HashDomain.__members__.values()]
    assert len(set(values)) == len(values)
    assert all(re.fullmatch(r"ogive/1/[a-z0-9_]+/[a-z0-9_]+", value) for value in values)


def test_a_digest_is_shake_of_length_prefixed_fields():
    label = HashDomain.COMPARISON_BLOCK
    text = b"".join(len(field).to_bytes(8, "little") + field for field in (label.value.encode(), b"ab", b""))
    assert digest(label, b"ab", b"", length=48) == hashlib.shake_256(text).digest(48)


def test_how_bytes_are_divided_into_fields_matters():
    label = HashDomain.COMPARISON_BLOCK
    divided = [(), (b"",), (b"ab",), (b"a", b"b"), (b"", b"ab"), (b"ab", b""), (b"abc",), (number(0),), (bytes(7),)]
    assert len({digest(label, *fields) for fields in divided}) == len(divided)


def test_labels_separate_purposes():
    assert len({digest(label, b"same") for label in HashDomain}) == len(HashDomain)


def test_a_shorter_digest_is_the_front_of_a_longer_one():
    assert digest(HashDomain.COMPARISON_BLOCK, b"x", length=64)[:16] == digest(
        HashDomain.COMPARISON_BLOCK, b"x", length=16
    )


@pytest.mark.parametrize("value", [-1, 1 << 64])
def test_a_number_out_of_range_is_not_wrapped(value):
    with pytest.raises(OverflowError):
        number(value)
