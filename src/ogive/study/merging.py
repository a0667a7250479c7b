"""Studies without a protocol: each party releases its own curve, and the coordinator adds the curves up.

A party's curve is private by itself, and everybody may read it. Nobody has to be trusted beyond one's own party; the
price is the noise, which is that of every party.

Source:
    `docs/sites.md` and `docs/proofs/composition.md`.
"""

from __future__ import annotations

import json
from functools import partial
from typing import Any

from ogive.errors import OgiveError, ParameterError, PeerError
from ogive.ledger import Account
from ogive.releasing.release import release
from ogive.statistics.base import settled
from ogive.statistics.curve.estimate import Curve
from ogive.statistics.curve.merging import merge
from ogive.statistics.ecdf.statistic import Ecdf
from ogive.statistics.kinds import read_recorded
from ogive.study.document import Study
from ogive.trust.table import Central

LARGEST_CURVE = 1 << 30
"""Bytes of a party's curve; one of 2^20 thresholds has some 40 MB."""


def own_records(study: Study, records: object) -> Central:
    """A party's records as its own curator holds them."""
    return Central(records, person=study.unit.person, max_rows_per_person=study.unit.max_rows_per_person)


def release_own(study: Study, release_number: int, party: int, records: Central, account: Account) -> bytes:
    """A party's own curve as its ledger pays for it, once; the same bytes again for free."""
    asked = study.releases[release_number]
    curve = release(
        asked.statistic,
        trust=records,
        privacy=asked.privacy,
        adjacency=study.unit.adjacency,
        public=study.unit.public,
        ledger=account,
        batch=study.parties[party - 1].name,
    )
    return json.dumps(curve.to_dict()).encode()


class Collected:
    """The curves of the parties for one release, numbered from 0, at the coordinator, to whom enough must come."""

    def __init__(self, study: Study, release_number: int) -> None:
        self._study = study
        self._release_number = release_number
        self._curves: dict[int, Curve] = {}

    @property
    def asked(self) -> tuple[int, ...]:
        """Every party."""
        return tuple(range(1, len(self._study.parties) + 1))

    @property
    def included(self) -> tuple[int, ...]:
        """Those whose curves are here."""
        return tuple(sorted(self._curves))

    longest = LARGEST_CURVE
    """Bytes of what a party may send."""

    def receive(self, party: int, body: bytes) -> None:
        """Read a party's curve, which need not be trusted.

        Raises:
            PeerError: it is none, or not what the study asks.
        """
        if len(body) > LARGEST_CURVE:
            raise _wrong(party, f"has more than {LARGEST_CURVE} bytes")
        try:
            curve = read_recorded(json.loads(body))
        except (OgiveError, ValueError, RecursionError):
            raise _wrong(party, "cannot be read") from None
        self._curves[party] = self._checked(party, curve)

    def merged(self) -> Curve:
        """The sum of the curves.

        Raises:
            PeerError: too few are here, or they do not add up.
        """
        missing = len(self._study.parties) - len(self._curves)
        if missing > self._study.dropouts:
            raise PeerError(
                f"{len(self._curves)} of {len(self._study.parties)} parties sent their curves, and "
                f"{self._study.dropouts} may be missing"
            )
        try:
            return merge(*(self._curves[party] for party in self.included))
        except ParameterError as problem:
            raise PeerError(f"the parties' curves do not add up: {problem}") from None

    def _checked(self, party: int, curve: Any) -> Curve:
        """The curve of a party, if it is what the study asks."""
        asked, unit = self._study.releases[self._release_number], self._study.unit
        statistic = settled(asked.statistic, unit)
        assert isinstance(statistic, Ecdf), "the study's file was checked for it"
        wrong = partial(_wrong, party)
        if not isinstance(curve, Curve) or curve.provenance is None:
            raise wrong("is no released curve")
        origin = curve.provenance
        if curve.column != statistic.column or curve.grid != statistic.binning().grid:
            raise wrong("is of another column or of other thresholds")
        if origin.privacy != asked.privacy or origin.trust != Central.options_type.name:
            raise wrong(f"is under {origin.privacy}, trust {origin.trust}, not under {asked.privacy}, trust central")
        hidden = (origin.adjacency, origin.person, origin.max_rows_per_person)
        if hidden != (unit.adjacency, unit.person, unit.max_rows_per_person):
            raise wrong("hides other units than the study's")
        if [batch.name for batch in curve.batches] != [self._study.parties[party - 1].name]:
            raise wrong("is not of that party's records alone")
        return curve


def _wrong(party: int, what: str) -> PeerError:
    return PeerError(f"the curve of party {party} {what}")


def read_merged(study: Study, release_number: int, data: bytes) -> dict[str, Any]:
    """The merged curve as a party reads it from the coordinator, as plain data."""
    try:
        curve = read_recorded(json.loads(data))
    except (OgiveError, ValueError, RecursionError):
        raise PeerError("the merged curve cannot be read") from None
    names = {each.name for each in study.parties}
    statistic = settled(study.releases[release_number].statistic, study.unit)
    if (
        not isinstance(curve, Curve)
        or not isinstance(statistic, Ecdf)
        or curve.grid != statistic.binning().grid
        or not {batch.name for batch in curve.batches} <= names
    ):
        raise PeerError("the merged curve is not of this release")
    return curve.to_dict()
