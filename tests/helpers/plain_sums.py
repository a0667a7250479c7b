"""Sums of parties' vectors without cryptography, for statistics of what is in them."""

import numpy as np

from ogive.crypto.aggregation import Round


class PlainSession:
    """Takes and gives what `ogive.trust.secagg.model.Session` does, and adds up in the open."""

    def __init__(self, settings, enrolment, vector, *, declared, leaving, notes):
        self.included = tuple(number for number in declared if leaving.get(number, 9) > Round.INPUT)
        self.sum = np.sum([vector(number) for number in self.included], axis=0, dtype=np.uint64)
        opened = [declared[number] for number in self.included] if settings.totals else []
        self.totals = tuple(map(sum, zip(*opened, strict=True)))

    def collect(self):
        return self.included

    def open(self):
        return self.sum, self.totals
