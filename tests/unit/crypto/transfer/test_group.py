"""Points of the subgroup of prime order, and what is refused as one."""

import pytest
from nacl import bindings

from ogive.crypto.labels import Label, digest
from ogive.crypto.transfer.group import base_times, checked, hashed, minus, plus, random_scalar, times
from ogive.errors import PeerError

PRIME = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
ORDER_8 = bytes.fromhex("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a")
POINT = base_times((5).to_bytes(32, "little"))


def encoded(value):
    return value.to_bytes(32, "little")


BAD = {
    "identity": encoded(1),
    "order 2": encoded(PRIME - 1),
    "order 4": encoded(0),
    "order 8": ORDER_8,
    "component of order 2": bindings.crypto_core_ed25519_add(POINT, encoded(PRIME - 1)),
    "component of order 8": bindings.crypto_core_ed25519_add(POINT, ORDER_8),
    "identity with a sign": encoded(1 | 1 << 255),
    "empty": b"",
    "short": POINT[:31],
    "long": POINT + b"\0",
} | {f"not canonical {k}": encoded(PRIME + k) for k in range(19)}


@pytest.mark.parametrize("name", BAD)
def test_what_is_no_point_of_the_subgroup_is_refused(name):
    with pytest.raises(PeerError, match="not one of the subgroup"):
        checked(BAD[name])


def test_about_half_of_all_coordinates_are_no_points():
    refused = 0
    for y in range(2, 202):
        try:
            checked(encoded(y))
        except PeerError:
            refused += 1
    # on the curve 1/2, and of these in the subgroup 1/8
    assert 165 < refused < 200


def test_points_of_the_subgroup_pass():
    for _ in range(20):
        point = base_times(random_scalar())
        assert checked(point) == point


def test_multiples_and_sums_agree():
    a, b = random_scalar(), random_scalar()
    total = encoded((int.from_bytes(a, "little") + int.from_bytes(b, "little")) % ORDER)
    assert plus(base_times(a), base_times(b)) == base_times(total)
    assert minus(base_times(total), base_times(b)) == base_times(a)
    assert times(a, base_times(b)) == times(b, base_times(a))


def test_results_that_are_the_identity_are_refused():
    with pytest.raises(PeerError, match="sum of two points"):
        minus(POINT, POINT)
    with pytest.raises(PeerError, match="sum of two points"):
        plus(POINT, base_times(encoded(ORDER - 5)))
    with pytest.raises(PeerError, match="multiple of a point"):
        times(encoded(ORDER), POINT)


def test_scalars_are_reduced_and_never_zero():
    draws = iter([bytes(64), encoded(ORDER) + bytes(32), encoded(ORDER + 7) + bytes(32)])
    assert random_scalar(lambda _: next(draws)) == encoded(7)


def test_hashed_points_lie_in_the_subgroup_and_depend_on_all_fields():
    fields = [(), (b"a",), (b"a", b""), (b"b",), (b"ab", b"c"), (b"a", b"bc")]
    points = [hashed(label, *row) for row in fields for label in (Label.TRANSFER_POINT, Label.TRANSFER_KEY)]
    assert len(set(points)) == len(points)
    assert [checked(point) for point in points] == points
    assert hashed(Label.TRANSFER_POINT, b"a") == points[2]


def test_a_hashed_point_is_the_sum_of_the_images_of_both_halves_of_a_digest():
    both = digest(Label.TRANSFER_POINT, b"a", b"b", length=64)
    images = [bindings.crypto_core_ed25519_from_uniform(half) for half in (both[:32], both[32:])]
    assert hashed(Label.TRANSFER_POINT, b"a", b"b") == bindings.crypto_core_ed25519_add(*images)
