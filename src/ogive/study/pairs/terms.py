"""What follows from a study of people alone: the query, who meets whom, and the result of what pairs computed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ogive.errors import DataError, OgiveError, ParameterError
from ogive.pairs import Design
from ogive.privacy import Loss
from ogive.queries import Answer, PairsQuery, Query
from ogive.releasing.release import drive
from ogive.statistics.base import Estimate, settled
from ogive.study.course import first_query, release_digest, terms_of, with_provenance
from ogive.study.document import PeopleStudy
from ogive.study.pairs import Collected, PairsStudy


@dataclass(frozen=True, eq=False)
class Meeting:
    """What everybody in a study of people agrees on: the query, what all pairs cost a person, and who meets whom."""

    study: PeopleStudy
    query: PairsQuery
    price: Loss
    protocol: PairsStudy

    @staticmethod
    def of(study: PeopleStudy) -> Meeting:
        """Follow a study as far as its release's query; who meets whom is drawn from the digest of the study."""
        release = study.releases[0]
        try:
            query, price = first_query(study, release)
            assert isinstance(query, PairsQuery), "people in pairs serve nothing else"
            if query.classes:
                raise ParameterError("a study of pairs has no public classes; ask for a statistic without a label")
            columns = len(query.columns.columns)
            design = query.drawn(np.zeros((study.records, columns), np.int64), seed=release_digest(study, 0))
            query.check(design, design.degrees)
            degrees = sorted({*design.degrees.tolist()} - {0})
            circuits = {each: query.program(query.parts_of(each)).circuit for each in degrees}
        except OgiveError as problem:
            raise problem.prefixed(f"release {release.name}") from None
        return Meeting(study, query, price, PairsStudy(design, circuits, study.people, study.coordinator))

    def answer(self, collected: Collected) -> Answer:
        """What came out at all pairs that were opened, in the order of their numbers."""
        agreed = self.protocol.agreed
        opened = sorted(collected.outputs)
        if not opened:
            raise DataError("no pair was opened")
        self.query.check(Design(self.study.records, collected.pairs[opened]), agreed)
        rows = []
        for pair in opened:
            ends = collected.pairs[pair]
            values = collected.values(pair)
            outputs = [values[f"kernel {place}"] for place in range(len(self.query.measure.kernels))]
            rows.append([*ends.tolist(), self.query.parts_of(int(agreed[ends].max())), *outputs])
        return Answer(np.array(rows, np.int64), (self.study.records,))

    def estimate(self, answer: Answer) -> Estimate:
        release = self.study.releases[0]
        statistic = settled(release.statistic, self.study.unit)
        return with_provenance(self.study, 0, drive(statistic, terms_of(self.study, release), _Holder(answer)))


class _Holder:
    """Nobody pays here: each person does, before it meets anybody."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer

    def pay(self, loss: Loss, query: Query) -> None:
        pass

    def answer(self, query: Query) -> Answer:
        return self._answer
