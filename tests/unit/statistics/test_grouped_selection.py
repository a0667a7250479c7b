"""Groups that select differently how they are measured stay together within what was granted."""

import itertools

import numpy as np
import pytest

from ogive.accounting import covers, total_loss
from ogive.columns import Binning
from ogive.columns.grids import Grid
from ogive.privacy import Adjacency, ApproxDP, PrivacyUnit, PureDP, ZeroConcentratedDP
from ogive.queries import Answer, GroupBinning
from ogive.statistics.base import Terms
from ogive.statistics.methods.base import CurveTask
from ogive.statistics.methods.choose import PrivateSelection
from ogive.statistics.methods.together import ask_groups

BINNING = Binning("x", Grid.linear(0, 1, bins=256))
GROUPS = GroupBinning(BINNING, "g", ("a", "b"))
GRANTS = [ApproxDP(3, "1e-3"), ApproxDP("0.3", "1e-9"), PureDP(1), ZeroConcentratedDP("0.05")]
UNITS = [(adjacency, public) for adjacency in Adjacency for public in (False, True)]


def granted(privacy, adjacency):
    return Terms(privacy, PrivacyUnit(adjacency), refusal=lambda query: None, count=lambda: 12_000)


def selecting(terms):
    return PrivateSelection().curve(CurveTask(BINNING, terms, expected_records=6_000))


@pytest.mark.each_value(privacy=str)
@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: f"{unit[0].value}-{unit[1]}")
@pytest.mark.parametrize("privacy", GRANTS, ids=str)
def test_whatever_groups_select_the_price_is_covered(privacy, unit):
    adjacency, public = unit
    terms, nobody = granted(privacy, adjacency), np.zeros((2, 256), dtype=np.int64)
    first = next(ask_groups(GROUPS, selecting, terms, public_groups=public))
    ways = range(first.parts[0].score.candidates)
    assert len(ways) >= 3
    for chosen in itertools.product(ways, repeat=2):
        procedure = ask_groups(GROUPS, selecting, terms, public_groups=public)
        losses = [next(procedure).price(terms.unit)]
        totals = (0, 0) if public else (0,)
        query = procedure.send(Answer(np.array(chosen), totals if adjacency is Adjacency.REPLACE else None))
        losses.append(query.price(terms.unit))
        assert covers(privacy, total_loss(losses)), chosen
        with pytest.raises(StopIteration):
            procedure.send(Answer(query.answer(nobody, None), totals if adjacency is Adjacency.REPLACE else None))


def test_control_one_group_alone_may_select_between_types_of_loss():
    procedure = selecting(granted(GRANTS[0], Adjacency.REPLACE))
    losses = {type(way.loss(Adjacency.REPLACE)) for way in next(procedure).score.strategies}
    assert PureDP in losses
    assert len(losses) >= 2
