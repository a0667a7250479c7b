"""What may be asked of records, as plain data.

Statistics speak this language upward, trust models answer it downward; neither knows the
other. A query holds everything a party needs to rebuild it; nothing executable is sent.
"""

from ogive.columns import MISSING_POLICIES, OUTSIDE_POLICIES, Binning, Label, LabelValue
from ogive.queries.aggregates import Aggregate, Ballots, Cells, ClassBinning, GroupBinning, GroupSums, RowValues
from ogive.queries.base import Answer, CuratorQuery, Int64, Kind, LinearQuery, Query, undeclared
from ogive.queries.cells import CellsQuery, design_cells
from ogive.queries.class_curves import ClassCurvesQuery, class_curves_price
from ogive.queries.curve import CurveQuery
from ogive.queries.group_sums import GroupSumsQuery
from ogive.queries.groups import GroupedQuery
from ogive.queries.kernels import KernelQuery
from ogive.queries.labels import LabelsQuery
from ogive.queries.pairs import PairsQuery
from ogive.queries.reports import ReportsQuery
from ogive.queries.scores import QuantileScore, Score
from ogive.queries.selection import NoisyMaxQuery, design_noisy_max
from ogive.queries.sparse_vector import SparseVectorQuery, design_sparse_vector
from ogive.queries.votes import VotesQuery, design_votes

__all__ = [
    "MISSING_POLICIES",
    "OUTSIDE_POLICIES",
    "Aggregate",
    "Answer",
    "Ballots",
    "Binning",
    "Cells",
    "CellsQuery",
    "ClassBinning",
    "ClassCurvesQuery",
    "CuratorQuery",
    "CurveQuery",
    "GroupBinning",
    "GroupSums",
    "GroupSumsQuery",
    "GroupedQuery",
    "Int64",
    "KernelQuery",
    "Kind",
    "Label",
    "LabelValue",
    "LabelsQuery",
    "LinearQuery",
    "NoisyMaxQuery",
    "PairsQuery",
    "QuantileScore",
    "Query",
    "ReportsQuery",
    "RowValues",
    "Score",
    "SparseVectorQuery",
    "VotesQuery",
    "class_curves_price",
    "design_cells",
    "design_noisy_max",
    "design_sparse_vector",
    "design_votes",
    "undeclared",
]
