"""How statistics of pairs are planned: from their one question alone, on public reference shapes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar, cast

from ogive.accounting import covers
from ogive.crypto.twoparty import pair_bytes
from ogive.errors import BudgetError, ParameterError
from ogive.noise import DiscreteLaplace
from ogive.queries import CellsQuery, DegreesQuery, PairsQuery, ReportsQuery
from ogive.records.imagined import Shape
from ogive.statistics import prediction
from ogive.statistics.base import Statistic, Terms
from ogive.statistics.prediction import Errors, Metric, Setting
from ogive.statistics.ustatistic.base import NARROW, SHAPES
from ogive.statistics.ustatistic.statistic import Ustatistic

SHAPE_WORDS = (
    f"errors are those on {len(SHAPES)} public reference shapes, spread out and skewed, and where bins round values on "
    f"{len(NARROW)} that fill a part of the bounds, whose columns go together; "
    "with equal classes where these are public; give `like=` for other data"
)

ROUNDED_WORDS = (
    "an interval also includes the largest change that rounding to bins can cause on any records: for whole numbers "
    "`grid='integers'` rounds nothing and may give a far narrower interval than a smaller error here"
)


class Prediction(prediction.Prediction):
    """One question, whose error is predicted from public quantities; with records given, it is simulated."""

    metrics: ClassVar[Mapping[str, Metric]] = {
        "value": Metric(
            "error",
            "root mean squared difference from the exact value, of the same records and with rounding to bins counted",
            squared=True,
        )
    }
    deciding = ("value",)
    labeled = True

    def __init__(self, statistic: Ustatistic, terms: Terms, setting: Setting) -> None:
        # not super().__init__, since nothing need be answered to know the question
        if setting.records < 2:
            raise ParameterError(f"a mean over pairs needs at least two records, got {setting.records}")
        self.statistic, self.terms, self.setting = statistic, terms, setting
        self._method = statistic.chosen_method(terms)
        query = self._method.query
        self.queries = self.questions = (query,)
        self.price = query.price(terms.unit)
        if not covers(terms.privacy, self.price):
            raise BudgetError(f"it would cost {self.price}, more than the privacy guarantee {terms.privacy}")

    @classmethod
    def imagined(cls, statistic: Any, records: int, assumed: Mapping[str, float]) -> Shape:
        """Labeled records, for the question alone: errors are those on public reference shapes."""
        for name, value in assumed.items():
            raise ParameterError(
                "errors of statistics of pairs are those on public reference shapes; "
                f"leave out `{name}={value:g}`, or give `like=` for other data"
            )
        return super().imagined(statistic, records, assumed)

    @property
    def decided(self) -> bool:
        return True

    def errors(self) -> Errors:
        """The error on the public reference shapes; none where records are given, whose own error is simulated."""
        if self.setting.given:
            return Errors({})
        basis = (SHAPE_WORDS, ROUNDED_WORDS) if self.setting.distributed else (SHAPE_WORDS,)
        return Errors({"value": math.sqrt(self._method.predicted)}, basis=basis)

    def simulated(self) -> tuple[Statistic[Any], Terms]:
        return cast(Ustatistic, self.statistic).settled(self.terms), self.terms

    def is_method_of(self, statistic: Ustatistic) -> bool:
        """Whether it is read in the same way; two methods with options may have one query."""
        return isinstance(statistic.method, str) or cast(Ustatistic, self.statistic).method == statistic.method

    def noise(self, errors: Mapping[str, float]) -> str:
        query = self._method.query
        bins = " x ".join(str(size) for size in self._method.domain.sizes)
        if isinstance(query, ReportsQuery):
            return f"{self.setting.records} randomized reports on {bins} bins"
        if isinstance(query, PairsQuery):
            each, circuit = f"{query.rounds} pair{'s' * (query.rounds > 1)}", query.program(query.rounds).circuit
            sent = sum(pair_bytes(circuit).values()) / 1000
            return f"circuits of {circuit.ands} AND gates, {each} each of {sent:.3g} kB"
        laws = [level.law for level in query.levels]
        kind = "Laplace" if all(isinstance(law, DiscreteLaplace) for law in laws) else "Gaussian"
        if isinstance(query, DegreesQuery):
            return f"{kind} on equal pairs and on the largest count"
        if isinstance(query, CellsQuery):
            return f"{kind} on {bins} counts"
        return f"{kind} on {len(laws)} mean{'s' * (len(laws) > 1)} over pairs"
