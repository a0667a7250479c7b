"""What may be asked of records, as plain data.

Statistics speak this language upward, trust models answer it downward; neither knows the
other. A query holds everything a party needs to rebuild it; nothing executable is sent.
"""

from ogive.queries.aggregates import (
    MISSING_POLICIES,
    OUTSIDE_POLICIES,
    Aggregate,
    Binning,
    ClassBinning,
    GroupBinning,
    GroupSums,
    Label,
    LabelValue,
)
from ogive.queries.base import Answer, Int64, LinearQuery, Query
from ogive.queries.class_curves import ClassCurvesQuery, class_curves_price
from ogive.queries.curve import CurveQuery
from ogive.queries.group_sums import GroupSumsQuery
from ogive.queries.groups import GroupedQuery
from ogive.queries.scores import QuantileScore, Score
from ogive.queries.selection import NoisyMaxQuery, design_noisy_max
from ogive.queries.sparse_vector import SparseVectorQuery, design_sparse_vector

__all__ = [
    "MISSING_POLICIES",
    "OUTSIDE_POLICIES",
    "Aggregate",
    "Answer",
    "Binning",
    "ClassBinning",
    "ClassCurvesQuery",
    "CurveQuery",
    "GroupBinning",
    "GroupSums",
    "GroupSumsQuery",
    "GroupedQuery",
    "Int64",
    "Label",
    "LabelValue",
    "LinearQuery",
    "NoisyMaxQuery",
    "QuantileScore",
    "Query",
    "Score",
    "SparseVectorQuery",
    "class_curves_price",
    "design_noisy_max",
    "design_sparse_vector",
]
