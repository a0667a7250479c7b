"""Pairs of people: each pair evaluates a garbled circuit, and only its noisy output leaves it.

Roles: people hold one record each; whoever they are paired with learns nothing of it; the aggregator gets two halves of
each output, which are bits that mean nothing alone, and adds outputs up; a relay carries what it cannot read. Nobody
draws the noise: it is made of random bits of both, so that neither knows it, and the guarantee of each holds against
the other together with the aggregator.

What is simulated here: all people of a table live in one process, which derives their random bits from one secret of
the release, so that a release that was cut off goes on with the same pairs and the same noise. Labels are handed over
inside the process, without oblivious transfer. `ogive.crypto.twoparty` is the protocol between two that have something
to hide from each other.
"""

from __future__ import annotations

import hashlib
from typing import Any, Self

from ogive import noise, pairs, privacy, queries, records
from ogive.core.arrays import UInt32
from ogive.core.checks import Progress
from ogive.crypto.circuits import evaluate
from ogive.crypto.domains import derived_key
from ogive.crypto.garbling import garbled_outputs
from ogive.crypto.twoparty import pair_bytes
from ogive.queries.pairs import Evaluate
from ogive.records.missing_words import NaValues
from ogive.trust.models import CLEAR, GARBLED, PairsOptions
from ogive.trust.table import SingleTable, TableOpening

_EVALUATE: dict[str, Evaluate] = {GARBLED: garbled_outputs, CLEAR: evaluate}


class Pairs(SingleTable):
    """People meet in random pairs and evaluate the kernel of the statistic in a circuit that adds noise.

    Args:
        data: Anything `Records.of` reads: a file, a frame, a dictionary of arrays; each row is one person's.
        circuits: "garbled" evaluates garbled circuits as pairs of people would; "clear" evaluates the same circuits
            gate by gate without encryption, for fast simulations. Both give the same outputs.
        absent: Share of the people who are absent, chosen at random after pairs are drawn. People who lose their
            partner are paired again. Records of absent people are in no pair.
        person: Column with the person's identifier, if a person may own several records; one of them is then chosen.
        max_rows_per_person: Number of a person's records that take part: one, since people are paired, not records.
        na_values: Texts and numbers that mark a missing value in any column, in addition to the usual ones such
            as NA.
        progress: Called repeatedly with the number of pairs evaluated and the number of pairs in all.

    Raises:
        ParameterError: an argument is out of range.

    Privacy:
        Computational, against parties that follow the protocol (semi-honest). Garbled circuits hide the input of each
        person of a pair from the other, even if the other colludes with others. The noise inside the circuit is exact:
        randomized response, or discrete Laplace noise whose truncation is included in delta.

    Source:
        Bell, Bellet, Gascon and Kulkarni 2020, section 5.3, corrected; `docs/proofs/pairs.md`.

    Example:
        >>> import numpy as np, ogive
        >>> incomes = {"income": np.random.default_rng(1).gamma(2, 10_000, size=2_000)}
        >>> gini = ogive.Ustatistic("income", "gini", bounds=(0, 200_000))
        >>> people = ogive.Pairs(incomes, circuits="clear")
        >>> spread = ogive.release(gini, trust=people, privacy=ogive.PureDP(2))
        >>> spread.method
        'paired'
    """

    options_type = PairsOptions

    def __init__(
        self,
        data: Any,
        *,
        circuits: str = GARBLED,
        absent: float = 0.0,
        person: str | None = None,
        max_rows_per_person: int = 1,
        na_values: NaValues = (),
        progress: Progress | None = None,
    ) -> None:
        self.options: PairsOptions = PairsOptions(circuits, absent)
        self.records = records.Records.of(data, na_values=na_values).bounded(person, max_rows_per_person)
        self.progress = progress

    @classmethod
    def simulated(
        cls, options: Any, data: Any, *, person: str | None, max_rows_per_person: int, progress: Progress | None
    ) -> Self:
        """The model of one table in which each row is one person."""
        return cls(
            data, person=person, max_rows_per_person=max_rows_per_person, progress=progress, **cls.arguments(options)
        )

    def resume(self, adjacency: privacy.Adjacency, *, secret: bytes) -> PairsOpening:
        """Continue a release from its secret."""
        return PairsOpening(self, adjacency, secret)


class PairsOpening(TableOpening[queries.PairsQuery]):
    """One release of pairs."""

    def __init__(self, model: Pairs, adjacency: privacy.Adjacency, secret: bytes) -> None:
        super().__init__(model.records, adjacency, secret)
        self._model = model
        self._met: list[str] = []

    @property
    def uploaded(self) -> str:
        """How many pairs evaluated circuits of which size, in a sentence that depends on public numbers alone."""
        return " ".join(self._met)

    def answer(self, query: queries.PairsQuery) -> queries.Answer:
        """What came out at all pairs, with who met whom.

        Privacy: `query.price(unit)` for every person, against everybody else.
        """
        rows, context = self._aggregate(query.rows), self._digest(query)
        first, came = self._designs(query)
        values = query.compute(
            rows,
            came,
            first.degrees,
            source=noise.KeyedSource(self._derived(b"ogive pairs people\n", context)),
            evaluate=_EVALUATE[self._model.options.circuits],
            progress=self._model.progress,
        )
        circuit = query.program(query.rounds).circuit
        sent = sum(pair_bytes(circuit).values()) / 1000
        self._met.append(
            f"{len(values):,} pairs evaluated circuits of {circuit.ands:,} AND gates; two separate people would send "
            f"each other {sent:.3g} kB for one."
        )
        return queries.Answer(values, query.totals(rows, self._adjacency))

    def context(self, query: queries.PairsQuery) -> bytes:
        first, came = self._designs(query)
        query.check(came, first.degrees)
        return self._digest(query)

    def _digest(self, query: queries.PairsQuery) -> bytes:
        # with who does not come: other pairs may not have the same noise
        absent = repr(float(self._model.options.absent)).encode()
        return hashlib.sha256(query.digest(self._aggregate(query.rows), self._adjacency) + absent).digest()

    def _designs(self, query: queries.PairsQuery) -> tuple[pairs.Design, pairs.Design]:
        """Who was to meet whom, and who did in the end."""
        rows, context = self._aggregate(query.rows), self._digest(query)
        design = query.drawn(rows, seed=self._derived(b"ogive pairs design\n", context))
        if not self._model.options.absent:
            return design, design
        source = noise.KeyedSource(self._derived(b"ogive pairs absent\n", context))
        draws: UInt32 = source.words(design.users)
        return design, pairs.paired_again(design, draws < self._model.options.absent * 2.0**32, seed=source.key())

    def _derived(self, purpose: bytes, context: bytes) -> bytes:
        # under a fresh secret any context gives a key that looks uniform, so that who meets whom tells nothing of the
        # records in it; they are in it so that other records never have the same noise
        return derived_key(self.secret, purpose + context)
