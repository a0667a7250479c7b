"""What kernels of more than two records have in common: nothing that is asked of a pair."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NoReturn

from ogive.arrays import Float64
from ogive.columns import Domain
from ogive.errors import ParameterError


class NoPairs(ABC):
    """A kernel that two records do not determine; values, matrices and spreads of pairs are refused."""

    def __call__(self, left: Float64, right: Float64) -> NoReturn:
        """Always refused: two records are too few.

        Raises:
            ParameterError: always.
        """
        raise self._no_pairs()

    def lipschitz(self, columns: Domain) -> float | None:
        """None: the kernel is not continuous."""
        return None

    def matrix(self, columns: Domain, kind: str = "average") -> NoReturn:
        """Always refused.

        Raises:
            ParameterError: always.
        """
        raise self._no_pairs()

    def spread(self, columns: Domain) -> NoReturn:
        """Always refused.

        Raises:
            ParameterError: always.
        """
        raise self._no_pairs()

    @abstractmethod
    def _no_pairs(self) -> ParameterError:
        """What the kernel looks at, and what to use instead."""
