"""How many parties there are, how many may leave or collude, and what of the protocol follows from that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from ogive.checks import whole
from ogive.crypto.aggregation import (
    MOST_PARTIES,
    AggregationSettings,
    check_threshold,
    choose_neighbours,
    least_threshold,
)
from ogive.errors import ParameterError
from ogive.provenance import trust_statement

ALL_PAIRS = 500
"""Up to so many parties, each shares masks with all others."""

ALONE = "A party that reads the release knows its own noise and therefore counts as colluding."
NOBODY = (
    "No party may read the release: the guarantee relies on the noise of all parties, and a party that knows its own "
    "noise learns more about the others' records than the guarantee allows."
)


@dataclass(frozen=True)
class AggregationTerms:
    """Terms of a secure aggregation, known before there are any records.

    Fields:
        parties: How many there are, 2 to `MOST_PARTIES`.
        colluding: How many may tell all that they know; a party that reads the result is one of them.
        dropouts: How many may leave.
        wanted: Threshold that the user wants, or None.

    Raises:
        ParameterError: a number is out of range, or they do not fit together; says what would.
    """

    parties: int
    colluding: int
    dropouts: int = 0
    wanted: int | None = None

    def __post_init__(self) -> None:
        parties = whole(self.parties, "parties", 2, MOST_PARTIES)
        whole(self.colluding, "colluding", 0, parties - 1)
        whole(self.dropouts, "dropouts", 0, parties - 1)
        if self.honest < 1:
            raise ParameterError(
                f"`colluding={self.colluding}` and `dropouts={self.dropouts}` leave none of {parties} parties honest; "
                "one is needed"
            )
        if self.wanted is not None:
            whole(self.wanted, "threshold")
        graph = self.graph  # refuses numbers that no graph can serve
        if self.wanted is not None and graph is not None:
            raise ParameterError(
                f"of more than {ALL_PAIRS} parties each knows some others only, and the threshold follows from how "
                "many; leave it out"
            )
        if self.wanted is not None:
            check_threshold(self.wanted, parties, self.dropouts, self.colluding, confirmed=self.confirmed)

    @property
    def honest(self) -> int:
        """How many are sure to be in the sum and to keep their noise to themselves."""
        return self.parties - self.colluding - self.dropouts

    @cached_property
    def graph(self) -> tuple[int, int] | None:
        """With how many others each party shares masks and secrets, and how many of them open one; None for all.

        Raises:
            ParameterError: too many leave or collude for any number.
        """
        if self.parties <= ALL_PAIRS:
            return None
        return choose_neighbours(self.parties, dropouts=self.dropouts, colluding=self.colluding)

    @cached_property
    def confirmed(self) -> bool:
        """Whether the parties stand up to a server that lies: enough of them confirm the same list.

        Not possible where too many may leave, or where parties are so many that each knows some others only.
        """
        least = least_threshold(self.parties, colluding=self.colluding, confirmed=True)
        return self.graph is None and least <= self.parties - self.dropouts

    def settings(
        self, *, study: bytes, release: bytes, parties: Sequence[bytes], server: bytes, length: int, totals: int
    ) -> AggregationSettings:
        """What all participants of one measurement agree on.

        Args:
            study: Digest of what is measured, 32 bytes.
            release: Digest of the release that it is part of, 32 bytes.
            parties: Public keys of the parties.
            server: The server's public key.
            length: Numbers in a vector.
            totals: How many totals each party opens.
        """
        if self.graph is not None:
            neighbours, threshold = self.graph
        else:
            # where lists cannot be confirmed, as many as will stay, so that no few of them open a secret
            most = self.parties - self.dropouts
            least = least_threshold(self.parties, colluding=self.colluding, confirmed=True)
            neighbours, threshold = None, min(least, most) if self.wanted is None else self.wanted
        return AggregationSettings(
            study,
            release,
            tuple(parties),
            server,
            length,
            threshold,
            dropouts=self.dropouts,
            colluding=self.colluding,
            totals=totals,
            confirmed=self.confirmed,
            neighbours=neighbours,
        )

    def assumption(self, *, simulated: bool = True) -> str:
        """Who holds the records, what each of them sees and what is assumed.

        Args:
            simulated: Whether all parties live in one process, which is said then.
        """
        whole = "All" if self.honest == self.parties else f"At least {self.honest}"
        verb, keep = ("adds", "keeps") if self.honest == 1 else ("add", "keep")
        readers = ALONE if self.colluding else NOBODY
        server = "" if self.confirmed else " The server follows the protocol."
        where = " The parties were simulated in one process, which saw everything." if simulated else ""
        return trust_statement(
            holds=f"Each of {self.parties} parties holds its own records and adds its share of the noise.",
            sees="Anyone who sees only the sum of all parties' masked vectors learns only what is published, and so do "
            f"colluding parties.{where}",
            assumed=f"{whole} of the {self.parties} parties {verb} their share of the noise and {keep} it secret. "
            f"{readers}{server} The records of each person are with one party.",
        )
