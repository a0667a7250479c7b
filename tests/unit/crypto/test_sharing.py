"""Shares of secrets: any threshold of them give the secret, and one fewer says nothing."""

import os
from collections import Counter
from itertools import combinations, product

import pytest

from ogive.crypto.aggregation.settings import PRIME, reconstruct, share, uniform


def test_the_modulus_is_the_largest_prime_of_32_bytes_that_is_specified():
    assert PRIME == 2**256 - 189
    for base in (2, 3, 5, 7, 11):
        odd, twos = PRIME - 1, 0
        while odd % 2 == 0:
            odd, twos = odd // 2, twos + 1
        power = pow(base, odd, PRIME)
        assert power in (1, PRIME - 1) or any(pow(power, 2**each, PRIME) == PRIME - 1 for each in range(twos))


@pytest.mark.parametrize(("threshold", "holders"), [(1, [1]), (2, [1, 2, 3]), (3, [2, 5, 7, 9, 100]), (5, range(1, 6))])
def test_any_threshold_of_shares_give_the_secret(threshold, holders):
    secret = uniform(os.urandom)
    dealt = dict(zip(holders, share(secret, threshold, holders, random=os.urandom), strict=True))
    for some in combinations(dealt, threshold):
        assert reconstruct({holder: dealt[holder] for holder in some}) == secret
    if threshold > 1:
        for some in combinations(dealt, threshold - 1):
            assert reconstruct({holder: dealt[holder] for holder in some}) != secret


class Scripted:
    """Randomness that says what it is told to, a byte a number."""

    def __init__(self, values):
        self.values = iter(values)

    def __call__(self, count):
        assert count == 1
        return bytes([next(self.values)])


@pytest.mark.parametrize("threshold", [2, 3])
def test_one_share_too_few_gives_every_secret_equally_often(threshold):
    prime, holders = 7, [1, 2, 4, 6]
    for some in combinations(range(len(holders)), threshold - 1):
        seen = {
            secret: Counter(
                tuple(share(secret, threshold, holders, random=Scripted(coefficients), prime=prime)[i] for i in some)
                for coefficients in product(range(prime), repeat=threshold - 1)
            )
            for secret in range(prime)
        }
        assert all(counted == seen[0] for counted in seen.values())
        assert len(seen[0]) == prime ** (threshold - 1)
    # with the threshold reached it is not so
    one = share(1, threshold, holders, random=Scripted([1] * threshold), prime=prime)[:threshold]
    reached = {
        secret
        for secret in range(prime)
        for coefficients in product(range(prime), repeat=threshold - 1)
        if share(secret, threshold, holders, random=Scripted(coefficients), prime=prime)[:threshold] == one
    }
    assert reached == {1}


def test_uniform_numbers_are_drawn_by_rejection():
    assert uniform(Scripted([255, 254, 252, 8]), 7) == 1, "252 = 36 * 7 and more are refused"
    drawn = Counter(uniform(Scripted([value, 0]), 7) for value in range(252))
    assert set(drawn.values()) == {36}
    big = [PRIME.to_bytes(32, "little"), (PRIME - 1).to_bytes(32, "little")]
    assert uniform(lambda count: big.pop(0)) == PRIME - 1
