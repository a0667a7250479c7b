"""Strategies: what is measured, with which noise, and how it becomes a distribution function."""

from ogive.strategies.base import Approximating, Level, Pointwise, Strategy
from ogive.strategies.hats.strategy import LeastSquaresHats, design_hats
from ogive.strategies.histogram import GroupedHistogram, design_histogram
from ogive.strategies.path.strategy import PathNoise, design_path
from ogive.strategies.people import CountedPeople
from ogive.strategies.projection.strategy import OrthogonalProjection, design_projection
from ogive.strategies.registry import strategy_from_dict
from ogive.strategies.reported import ReportedHistogram, ReportedTree, design_reports
from ogive.strategies.ring import RingRoot, design_ring
from ogive.strategies.square_root import SquareRoot, design_square_root
from ogive.strategies.summed import SummedApproximations, SummedStrategies
from ogive.strategies.symmetric_root import SymmetricRoot, design_symmetric_root
from ogive.strategies.thresholds import OpenedThresholds
from ogive.strategies.tree import LeastSquaresTree, design_tree

__all__ = [
    "Approximating",
    "CountedPeople",
    "GroupedHistogram",
    "LeastSquaresHats",
    "LeastSquaresTree",
    "Level",
    "OpenedThresholds",
    "OrthogonalProjection",
    "PathNoise",
    "Pointwise",
    "ReportedHistogram",
    "ReportedTree",
    "RingRoot",
    "SquareRoot",
    "Strategy",
    "SummedApproximations",
    "SummedStrategies",
    "SymmetricRoot",
    "design_hats",
    "design_histogram",
    "design_path",
    "design_projection",
    "design_reports",
    "design_ring",
    "design_square_root",
    "design_symmetric_root",
    "design_tree",
    "strategy_from_dict",
]
