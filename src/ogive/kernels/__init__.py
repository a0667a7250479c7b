"""Kernels of pairwise statistics, and the measures that are asked for by name."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ogive.kernels.base import MATRICES, Kernel, Measure, Value
    from ogive.kernels.cells import column_nodes, domain_nodes
    from ogive.kernels.clustering import ClusteringLoss
    from ogive.kernels.counting import PairCounts, count_pairs
    from ogive.kernels.equality import Equal, Untied
    from ogive.kernels.exact import Scale, numerator
    from ogive.kernels.function import FunctionKernel
    from ogive.kernels.in_order import InOrder
    from ogive.kernels.labeled import ScoreOrder, auc_factor
    from ogive.kernels.measures import CollisionEntropy, Gamma, GiniCoefficient, KendallB, Mean, PrivateLabelAuc
    from ogive.kernels.metric import MetricLoss
    from ogive.kernels.naming import KERNELS, MEASURES, kernel_from_dict, measure_from_dict, measure_of
    from ogive.kernels.numbers import AbsoluteDifference, HalfSquare, PairMeanKernel
    from ogive.kernels.ranking import RankingLoss
    from ogive.kernels.ranks import Greater, SignProduct
    from ogive.kernels.surface import exact_vus, vus, vus_extremes, vus_gradient, vus_tree

_HOME = {
    "KERNELS": "naming",
    "MATRICES": "base",
    "MEASURES": "naming",
    "AbsoluteDifference": "numbers",
    "ClusteringLoss": "clustering",
    "CollisionEntropy": "measures",
    "Equal": "equality",
    "FunctionKernel": "function",
    "Gamma": "measures",
    "GiniCoefficient": "measures",
    "Greater": "ranks",
    "HalfSquare": "numbers",
    "InOrder": "in_order",
    "KendallB": "measures",
    "Kernel": "base",
    "Mean": "measures",
    "Measure": "base",
    "MetricLoss": "metric",
    "PairCounts": "counting",
    "PairMeanKernel": "numbers",
    "PrivateLabelAuc": "measures",
    "RankingLoss": "ranking",
    "Scale": "exact",
    "ScoreOrder": "labeled",
    "SignProduct": "ranks",
    "Untied": "equality",
    "Value": "base",
    "auc_factor": "labeled",
    "column_nodes": "cells",
    "count_pairs": "counting",
    "domain_nodes": "cells",
    "exact_vus": "surface",
    "kernel_from_dict": "naming",
    "measure_from_dict": "naming",
    "measure_of": "naming",
    "numerator": "exact",
    "vus": "surface",
    "vus_extremes": "surface",
    "vus_gradient": "surface",
    "vus_tree": "surface",
}

__all__ = [
    "KERNELS",
    "MATRICES",
    "MEASURES",
    "AbsoluteDifference",
    "ClusteringLoss",
    "CollisionEntropy",
    "Equal",
    "FunctionKernel",
    "Gamma",
    "GiniCoefficient",
    "Greater",
    "HalfSquare",
    "InOrder",
    "KendallB",
    "Kernel",
    "Mean",
    "Measure",
    "MetricLoss",
    "PairCounts",
    "PairMeanKernel",
    "PrivateLabelAuc",
    "RankingLoss",
    "Scale",
    "ScoreOrder",
    "SignProduct",
    "Untied",
    "Value",
    "auc_factor",
    "column_nodes",
    "count_pairs",
    "domain_nodes",
    "exact_vus",
    "kernel_from_dict",
    "measure_from_dict",
    "measure_of",
    "numerator",
    "vus",
    "vus_extremes",
    "vus_gradient",
    "vus_tree",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"ogive.kernels.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return __all__
