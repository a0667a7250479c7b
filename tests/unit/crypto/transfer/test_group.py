"""Points that are none of the subgroup of prime order, each made with plain arithmetic of the curve."""

import random

import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from helpers import edwards
from nacl import bindings

from ogive.crypto import transfer
from ogive.crypto.transfer import BaseTransfers, base_times, checked, random_scalar
from ogive.crypto.wire import agree
from ogive.errors import PeerError, UnsupportedError

TORSION = edwards.torsion()
ORDERS = (1, 8, 4, 8, 2, 8, 4, 8)
NUMBERS = random.Random(17)


def multiples(count):
    return [edwards.times(NUMBERS.randrange(1, edwards.L), edwards.BASE) for _ in range(count)]


@pytest.fixture
def retried():
    """libsodium is tried anew, also after the test."""
    transfer._try_libsodium.cache_clear()
    yield
    transfer._try_libsodium.cache_clear()


def accepts_twice_the_order(data):
    """What libsodium did before 1.0.20: of L times a point only the first coordinate is looked at, which -1 has too."""
    point = edwards.decoded(data)
    if point is None or edwards.encoded(point) != data or edwards.times(8, point) == edwards.IDENTITY:
        return False
    return edwards.times(edwards.L, point)[0] == 0


def test_plain_arithmetic_agrees_with_libsodium():
    for _ in range(20):
        scalar = random_scalar()
        assert edwards.encoded(edwards.times(int.from_bytes(scalar, "little"), edwards.BASE)) == base_times(scalar)
    for point, order in zip(TORSION, ORDERS, strict=True):
        assert edwards.times(order, point) == edwards.IDENTITY
        assert order == 1 or edwards.times(order // 2, point) != edwards.IDENTITY
    assert edwards.times(edwards.L, edwards.BASE) == edwards.IDENTITY


@pytest.mark.parametrize("place", range(1, 8), ids=[f"order {order} L" for order in ORDERS[1:]])
def test_points_of_mixed_order_are_refused(place):
    for point in multiples(10):
        assert checked(edwards.encoded(point))  # the control
        with pytest.raises(PeerError, match="not one of the subgroup"):
            checked(edwards.encoded(edwards.plus(point, TORSION[place])))


def test_points_of_small_order_are_refused_in_every_encoding():
    encodings = {edwards.encoded(point) for point in TORSION}
    # the same points with y + p, or with the other sign of x = 0
    for point in TORSION:
        for y in (point[1], point[1] + edwards.P):
            encodings |= {(y | sign << 255).to_bytes(32, "little") for sign in (0, 1) if y < 1 << 255}
    assert len(encodings) == 14
    for encoding in encodings:
        with pytest.raises(PeerError, match="not one of the subgroup"):
            checked(encoding)


def test_encodings_that_are_not_canonical_are_refused():
    """Only y below 19 has a second encoding; some of these are points."""
    found = 0
    for y in range(19):
        for sign in (0, 1):
            encoding = (y + edwards.P | sign << 255).to_bytes(32, "little")
            found += edwards.decoded(encoding) is not None
            with pytest.raises(PeerError, match="not one of the subgroup"):
                checked(encoding)
    assert found > 10


def test_points_off_the_curve_and_of_other_lengths_are_refused():
    off = [data for data in (bytes([n]) + bytes(31) for n in range(2, 60)) if edwards.decoded(data) is None]
    assert len(off) > 20
    for data in [*off, b"", bytes(31), bytes(33), b"\xff" * 32]:
        with pytest.raises(PeerError, match="not one of the subgroup"):
            checked(data)


def test_a_libsodium_that_accepts_points_of_order_2_l_is_not_used(monkeypatch, retried):
    sender, receiver = BaseTransfers().sender(b"s", 1), BaseTransfers().receiver(b"s", [0])
    outside = edwards.encoded(edwards.plus(multiples(1)[0], TORSION[4]))
    with monkeypatch.context() as patch:
        patch.setattr(bindings, "crypto_core_ed25519_is_valid_point", accepts_twice_the_order)
        # the control: such a check takes points of the subgroup, and those plus the point of order 2
        assert accepts_twice_the_order(outside)
        assert accepts_twice_the_order(edwards.encoded(multiples(1)[0]))
        assert not accepts_twice_the_order(edwards.encoded(edwards.plus(multiples(1)[0], TORSION[1])))
        for _ in range(2):
            with pytest.raises(UnsupportedError, match=r"install PyNaCl 1\.6\.2 or later"):
                sender.keys(outside + receiver.message[32:])
    with pytest.raises(PeerError, match="not one of the subgroup"):
        sender.keys(outside + receiver.message[32:])


def test_the_fixed_points_are_those_of_every_order():
    outside = [edwards.decoded(bytes.fromhex(point)) for point in transfer._OUTSIDE]
    assert outside == [edwards.plus(edwards.BASE, TORSION[place]) for place in (4, 2, 1)]


def test_keys_of_low_order_agree_on_nothing():
    """All coordinates of points of low order of X25519, and of its twist, with and without the bit that is ignored."""
    p = edwards.P
    order_8 = [
        325606250916557431795983626356110631294008115727848805560023387167927233504,
        39382357235489614581723060781553021112529911719440698176882885853963445705823,
    ]
    coordinates = [0, 1, p - 1, *order_8, p, p + 1]
    keys = [(u | top << 255).to_bytes(32, "little") for u in coordinates for top in (0, 1)]
    private = X25519PrivateKey.generate()
    for key in keys:
        with pytest.raises(PeerError, match="party 3 sent a key with which no secret can be agreed on"):
            agree(private, key, 3)
    # the control
    other = X25519PrivateKey.generate()
    assert agree(private, other.public_key().public_bytes_raw(), 3) == agree(
        other, private.public_key().public_bytes_raw(), 3
    )
