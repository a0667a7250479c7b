"""Secure aggregation: several parties, of whose answers only the sum is seen.

Roles: each party holds records of its own; the server sees one masked vector a party; the analyst sees the sum.

    party     adds up its own records (`measure` of its aggregate, integers) and its share of the noise, then masks
    server    adds up what it gets, modulo 2^64, and takes away the masks that are left with what parties tell it

A vector that lacks even one honest party's is uniformly distributed. The noise is whole once `honest` parties have
added theirs; the others' comes on top, so fewer honest parties mean more noise, by the number in the sum / honest in
variance, and never a higher price.

What is simulated here: all parties live in one process, which derives their noise from one secret of the release, so
that a release that was cut off goes on with the same noise. The messages are those of `ogive.crypto.aggregation`.

A release has one set of parties for all its measurements: one whose records are in some sums and not in others would
not be hidden by the noise. Every party notes that set before it confirms it and confirms no other, whatever session the
server begins. One that leaves between two measurements ends the release.

Source:
    Bonawitz et al. 2017 for the protocol; `docs/proofs/noise_shares.md` for the noise; `ecdf.md`, section 8, rule 8.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

from ogive.crypto.aggregation import MOST_PARTIES, Round
from ogive.errors import ParameterError, quoted
from ogive.privacy import Adjacency
from ogive.progress import Progress
from ogive.records import Records
from ogive.records.missing_words import NaValues
from ogive.trust.parties import SeveralTables, read_parties
from ogive.trust.secagg.opening import SecAggOpening, gone
from ogive.trust.secagg.options import COLLUDING, SecAggOptions


class SecAgg(SeveralTables):
    """Several parties who add up masked vectors; only the sum is revealed.

    Args:
        parties: The records of each of at least two parties, in any form that `Records.of` reads. A party may have no
            records. No person may be in two parties.
        colluding: Number of parties that may share all they know with each other and with the server; one by default.
            One is the least if a party may read the release, since a party knows its own noise. 0 needs less noise and
            protects only against outsiders.
        dropouts: Number of parties that may leave before the end; none by default. More colluding or leaving parties
            mean more noise from each party.
        threshold: Number of parties needed to reveal the sum. By default the smallest number that is safe against a
            malicious server, or the number of parties sure to stay, if that is smaller.
        leaving: For tests and demonstrations: party, numbered from 1 -> the step at which it stops answering: "keys",
            "shares", "input", "confirm" or "unmask". Parties that leave before "confirm" are not in the sum.
        person: Column with the person's identifier, if a person may have several records; the same at every party.
        max_rows_per_person: How many of a person's records are kept, chosen at random.
        na_values: Texts and numbers that mark a missing value in any column, in addition to the usual ones such
            as NA.

    Raises:
        ParameterError: there are fewer than two parties, two are the same, or too many may leave or collude.
        DataError: a party's records cannot be read.

    Example:
        >>> import numpy as np, ogive
        >>> sites = [{"age": np.random.default_rng(seed).integers(18, 90, size=2_000)} for seed in range(5)]
        >>> age = ogive.Ecdf("age", bounds=(0, 120), grid="integers")
        >>> trust = ogive.SecAgg(sites, dropouts=1)
        >>> curve = ogive.release(age, trust=trust, privacy=ogive.PureDP(1))
        >>> curve.total
        10000
    """

    options_type = SecAggOptions
    made_of = (
        "the records of each party, as in `ogive.{name}([north, south])`; to divide one table among simulated parties "
        "write `trust=ogive.Simulation(ogive.{name}, parties=3)`"
    )

    def __init__(
        self,
        parties: Sequence[Any],
        *,
        colluding: int = COLLUDING,
        dropouts: int = 0,
        threshold: int | None = None,
        leaving: Mapping[int, str] | None = None,
        person: str | None = None,
        max_rows_per_person: int = 1,
        na_values: NaValues = (),
    ) -> None:
        if isinstance(parties, int):
            raise ParameterError(
                "`parties` must be a list with the records of each party; to divide one table among so many simulated "
                f"parties write `trust=ogive.Simulation(ogive.SecAgg, parties={parties})`"
            )
        if not isinstance(parties, list | tuple) or not 2 <= len(parties) <= MOST_PARTIES:
            raise ParameterError(
                f"`parties` must be a list of the records of 2 to {MOST_PARTIES} parties, for example "
                "[north, south]; for a single one use Central"
            )
        self.options: SecAggOptions = SecAggOptions(len(parties), colluding, dropouts, threshold)
        self.leaving = _rounds(leaving or {}, len(parties))
        self.parties = read_parties(
            parties, person=person, max_rows_per_person=max_rows_per_person, na_values=na_values
        )

    @classmethod
    def simulated(
        cls, options: Any, data: Any, *, person: str | None, max_rows_per_person: int, progress: Progress | None
    ) -> Self:
        """The model of one table whose rows are divided among the parties by a public hash.

        Raises:
            ParameterError: there are too few records for all.
            DataError: the records cannot be read.
        """
        return cls(
            Records.of(data).bounded(person, max_rows_per_person).split(options.parties),
            colluding=options.colluding,
            dropouts=options.dropouts,
            threshold=options.threshold,
            person=person,
            max_rows_per_person=max_rows_per_person,
        )

    @property
    def absent(self) -> frozenset[int]:
        """Parties whose vectors are missing."""
        return gone(self.leaving)

    def resume(self, adjacency: Adjacency, *, secret: bytes) -> SecAggOpening:
        """Continue a release from its secret."""
        return SecAggOpening(self.parties, self.options.terms, self.leaving, adjacency, secret)


def _rounds(leaving: Mapping[int, str], parties: int) -> dict[int, Round]:
    """Who leaves when.

    Raises:
        ParameterError: there is no such party, or no such step.
    """
    steps = {round.name.lower(): round for round in Round}
    for party, step in leaving.items():
        if party not in range(1, parties + 1) or step not in steps:
            raise ParameterError(
                f"`leaving` must be like {{3: 'input'}}, with parties from 1 to {parties} and one of the steps "
                f"{', '.join(steps)}; got {quoted(party)}: {quoted(step)}"
            )
    return {party: steps[step] for party, step in leaving.items()}
