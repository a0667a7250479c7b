"""Which law the reports of an oracle have, by the oracle's name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ogive.errors import ParameterError, quoted
from ogive.statistics.ustatistic.reports.base import ReportLaw, check_pairwise
from ogive.statistics.ustatistic.reports.haar_law import HaarLaw
from ogive.statistics.ustatistic.reports.krr_law import KrrLaw
from ogive.statistics.ustatistic.reports.unary_law import UnaryLaw

LAWS: Mapping[str, Callable[[Any], ReportLaw]] = {"krr": KrrLaw.of, "unary": UnaryLaw.of, "haar": HaarLaw.of}


def law_of(oracle: Any) -> ReportLaw:
    """The law of an oracle's reports.

    Raises:
        ParameterError: there is none for pairwise statistics, or the domain is too large for a matrix over pairs.
    """
    name: Any = getattr(oracle, "name", None)
    if name not in LAWS:
        raise ParameterError(f"means over pairs need reports of {', '.join(LAWS)}, got {quoted(name)}")
    check_pairwise(oracle.size)
    return LAWS[name](oracle)
