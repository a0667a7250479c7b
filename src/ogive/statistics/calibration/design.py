"""How the privacy of a calibration release is divided, before any answer is known.

The thresholds cost the share `split`, the group sums the rest. Thresholds decide only how equal the groups
are, and the test is valid for any groups, so they need little. With groups of m records, sampling variance
m / 8 of a group's deviation D (labels of probability near 1/7), noise of variance v on D if it had
the whole privacy, and noise of variance t on a threshold's count likewise, a share a for the thresholds makes

    v / (1 - a)^k  +  (m / 8) 2 t / (a^k m^2),      k = 2 for pure and 1 for concentrated privacy:

noise on D, and what unequal groups lose, both as a variance of D. The default minimizes it at the m where noise
on D is as large as sampling error, or at 100 records where that is more.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from ogive.accounting import loss_per_row
from ogive.errors import ParameterError, ScaleError
from ogive.noise import DiscreteLaplace, round_up_scale
from ogive.privacy import Adjacency, ApproxDP, Privacy, PrivacyUnit, PureDP, ZeroConcentratedDP
from ogive.queries import GroupSums, GroupSumsQuery
from ogive.statistics.methods.base import mean_variance
from ogive.statistics.methods.choose import candidates
from ogive.strategies import PathNoise, design_path
from ogive.strategies.base import measured_laws

Granted = PureDP | ZeroConcentratedDP

SHARES = tuple(Fraction(j, 64) for j in range(1, 33))
SMALLEST_GROUP = 100.0
SAMPLING = 1 / 8
# The share of the group sums' privacy for the expected sums, where the difference is measured: it
# minimizes Var(2 D) / E + Var(E) / E^2, the relative variance of a group's term, at E = 16.
EXPECTED_SHARE = {PureDP: Fraction(1, 5), ZeroConcentratedDP: Fraction(1, 9)}
# standard deviations are rounded up by less than 2^-28 of themselves, so two roundings differ by less than this
_ROOM = 1 - Fraction(1, 1 << 26)


@dataclass(frozen=True)
class Division:
    """Guarantees, of one record, of the two measurements; together they meet what was granted."""

    thresholds: Granted
    sums: Granted


def divide(granted: Granted, share: Fraction) -> Division:
    """The share for the thresholds, the rest for the sums."""
    if isinstance(granted, PureDP):
        return Division(PureDP(granted.epsilon * share), PureDP(granted.epsilon * (1 - share)))
    return Division(ZeroConcentratedDP(granted.rho * share), ZeroConcentratedDP(granted.rho * (1 - share)))


def default_split(granted: Granted, *, bins: int, method: str, form: str, adjacency: Adjacency) -> Fraction:
    """The share of one record's privacy for the thresholds that this module's text describes."""
    power = 2 if isinstance(granted, PureDP) else 1
    noise = difference_variance(granted, form=form, adjacency=adjacency)
    spread = mean_variance(candidates(bins, granted, adjacency, method)[0], adjacency)
    size = max(SMALLEST_GROUP, noise / SAMPLING)

    def loss(share: Fraction) -> float:
        a = float(share)
        return noise / (1 - a) ** power + 2 * SAMPLING * spread / (a**power * size)

    return min(SHARES, key=loss)


def difference_variance(granted: Granted, *, form: str, adjacency: Adjacency) -> float:
    """About the variance of the noise on a group's D = observed - expected, if the sums had this much privacy."""
    moved = 2 if adjacency is Adjacency.REPLACE else 1
    share = Fraction(1, 2) if form == "counts" else 1 - EXPECTED_SHARE[type(granted)]
    if isinstance(granted, PureDP):
        return 2 * float(moved / (share * granted.epsilon)) ** 2
    return float(moved / (2 * share * granted.rho))


def sums_query(groups: GroupSums, form: str, granted: Granted, unit: PrivacyUnit) -> GroupSumsQuery:
    """Noise for the group sums of a guarantee for one record: equal on "counts", unequal on "difference"."""
    query = _designed(groups, form, granted, unit.adjacency)
    row = loss_per_row(query.price(unit), unit.max_rows_per_person)
    if isinstance(row, ZeroConcentratedDP) and isinstance(granted, ZeroConcentratedDP) and row.rho > granted.rho:
        # within a wide group one record moves the difference by more than two groups' records do
        query = _designed(groups, form, ZeroConcentratedDP(granted.rho**2 / row.rho * _ROOM), unit.adjacency)
    return query


def _designed(groups: GroupSums, form: str, granted: Granted, adjacency: Adjacency) -> GroupSumsQuery:
    """Noise that costs no more than the guarantee unless a group is wide."""
    one = 1 << groups.bits
    moved = 2 if adjacency is Adjacency.REPLACE else 1
    second = 1 if form == "counts" else one
    share = Fraction(1, 2) if form == "counts" else EXPECTED_SHARE[type(granted)]
    expected, observed = measured_laws(
        granted,
        (share, 1 - share),
        l1=(moved * one, moved * second),
        l2_squared=(moved * one**2, moved * second**2),
    )
    return GroupSumsQuery(groups, expected, observed, form=form)


def paper_noise(bins: int, granted: Granted) -> tuple[PathNoise, Fraction]:
    """The paper's thresholds and its one noise scale, in records: eps' = epsilon / (L + 9).

    Its exact price is smaller: (L + 4) eps' or less under REPLACE, since a record moves the sums by 4, not 8.
    """
    if not isinstance(granted, PureDP):
        raise ParameterError("the paper's constants are for pure privacy, for example `privacy=PureDP(1)`")
    height = (bins - 1).bit_length()
    scale = round_up_scale((height + 9) / granted.epsilon)
    strategy = design_path(bins, privacy=PureDP((height + 1) / scale), adjacency=Adjacency.REPLACE, constants="paper")
    return strategy, scale


def paper_query(groups: GroupSums, scale: Fraction) -> GroupSumsQuery:
    """4 Q noises of one scale on the sums of half-open groups."""
    fine = DiscreteLaplace(round_up_scale(scale * (1 << groups.bits)))
    return GroupSumsQuery(groups, fine, DiscreteLaplace(scale), form="counts")


# --- The smallest guarantee whose noise can be drawn
#
# Each measurement has only a share of the guarantee, and its own refusal knows only that share, so what would do for
# the whole release is found by trying: designs depend on public numbers alone.

_LARGEST = 6  # as a power of ten; every design can be drawn far below


def check_scales(privacy: Privacy, what: str, design: Callable[[Privacy], None]) -> None:
    """Refuse a guarantee whose noise cannot be drawn, naming the smallest one of the same type that can."""
    if _fits(privacy, _amount(privacy), design):
        return
    name = "rho" if isinstance(privacy, ZeroConcentratedDP) else "epsilon"
    enough = smallest_that_fits(privacy, design)
    advice = f"use at least {name} = {enough}" if enough else f"use a larger {name}"
    if isinstance(privacy, ApproxDP) and enough:
        advice += " at this delta"
    raise ScaleError(f"{privacy} for {what} needs noise above 2^47, the largest scale that can be drawn; {advice}")


def smallest_that_fits(privacy: Privacy, design: Callable[[Privacy], None]) -> str | None:
    """Two digits of epsilon or rho, with which the design succeeds; None if none does."""
    # from the power of ten above it; nothing below 10^-20 can be drawn
    exponent = math.ceil(math.log10(max(1e-20, float(_amount(privacy)))))
    while not _fits(privacy, Fraction(10) ** exponent, design):
        exponent += 1
        if exponent > _LARGEST:
            return None
    # between one power of ten and the next: the first of 10, 11, ..., 100 tenths that fits
    low, high = 10, 100
    while low < high:
        middle = (low + high) // 2
        if _fits(privacy, middle * Fraction(10) ** (exponent - 2), design):
            high = middle
        else:
            low = middle + 1
    return f"{float(Decimal(high).scaleb(exponent - 2)):g}"


def _fits(privacy: Privacy, amount: Fraction, design: Callable[[Privacy], None]) -> bool:
    try:
        design(_with_amount(privacy, amount))
    except ScaleError:
        return False
    return True


def _amount(privacy: Privacy) -> Fraction:
    return privacy.rho if isinstance(privacy, ZeroConcentratedDP) else privacy.epsilon


def _with_amount(privacy: Privacy, amount: Fraction) -> Privacy:
    if isinstance(privacy, PureDP):
        return PureDP(amount)
    if isinstance(privacy, ZeroConcentratedDP):
        return ZeroConcentratedDP(amount)
    return ApproxDP(amount, privacy.delta)
