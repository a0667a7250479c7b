"""Distribution functions, rank statistics and consensus labels with differential privacy.

The names below are the public ones. They load when first used, so that importing ogive is
quick and runs nothing; so do the parts of the package that have public names of their own, such as `ogive.pate`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ogive import accounting as accounting
    from ogive import columns as columns
    from ogive import datasets as datasets
    from ogive import errors as errors
    from ogive import kernels as kernels
    from ogive import local as local
    from ogive import noise as noise
    from ogive import pate as pate
    from ogive import plots as plots
    from ogive import privacy as privacy
    from ogive import report as report
    from ogive import statistics as statistics
    from ogive import streams as streams
    from ogive import trust as trust
    from ogive.collecting import describe_collection, estimate_collection
    from ogive.errors import (
        AccountWarning,
        BudgetError,
        CopyError,
        DataError,
        LedgerError,
        OgiveError,
        ParameterError,
        PeerError,
        RefusalError,
        ReleaseMismatchError,
        ScaleError,
        UnsupportedError,
    )
    from ogive.functions import boxplot, ecdf, find_bounds, hosmer_lemeshow, quantiles, roc, ustatistic
    from ogive.grids import Grid
    from ogive.ledger import Account, Ledger
    from ogive.planning import Plan, PlanRow, plan, required_privacy
    from ogive.pointwise import PointwiseCurve
    from ogive.privacy import Adjacency, ApproxDP, PrivacyUnit, PureDP, ZeroConcentratedDP
    from ogive.provenance import Provenance
    from ogive.releasing import release
    from ogive.session import Session
    from ogive.statistics.bands import Band
    from ogive.statistics.bounds import Bounds
    from ogive.statistics.bounds_estimate import BoundsEstimate
    from ogive.statistics.boxplot import Boxplot
    from ogive.statistics.boxplot_boxes import Box
    from ogive.statistics.boxplot_estimate import Boxplots
    from ogive.statistics.calibration import HosmerLemeshow
    from ogive.statistics.calibration_estimate import Calibration
    from ogive.statistics.curve import Curve
    from ogive.statistics.distances import Distances, distances
    from ogive.statistics.ecdf import Ecdf
    from ogive.statistics.merging import merge
    from ogive.statistics.pairwise.bounds_generic import optimal_bins
    from ogive.statistics.quantiles import QuantileEstimates, Quantiles
    from ogive.statistics.recipes_adaptive import AdaptiveQuantiles
    from ogive.statistics.recipes_hierarchy import HierarchyAuc
    from ogive.statistics.recipes_pairs import Paired
    from ogive.statistics.recipes_reports import Reports
    from ogive.statistics.recipes_selected import PrivateSelection
    from ogive.statistics.recipes_whole import HistogramQueries, Projection
    from ogive.statistics.roc import Roc
    from ogive.statistics.roc_band import RocBand
    from ogive.statistics.roc_estimate import RocEstimate
    from ogive.statistics.ustatistic import Ustatistic
    from ogive.statistics.ustatistic_estimate import UstatisticEstimate
    from ogive.strategies import (
        design_hats,
        design_histogram,
        design_path,
        design_projection,
        design_square_root,
        design_tree,
    )
    from ogive.streams import RunningTotal
    from ogive.trust import Central, Clear, Collected, Local, Pairs, SecAgg, Servers, Simulation

__version__ = "0.1.0"

_HOME = {
    "Account": "ledger",
    "AccountWarning": "errors",
    "AdaptiveQuantiles": "statistics.recipes_adaptive",
    "Adjacency": "privacy",
    "ApproxDP": "privacy",
    "Band": "statistics.bands",
    "Bounds": "statistics.bounds",
    "BoundsEstimate": "statistics.bounds_estimate",
    "Box": "statistics.boxplot_boxes",
    "Boxplot": "statistics.boxplot",
    "Boxplots": "statistics.boxplot_estimate",
    "BudgetError": "errors",
    "Calibration": "statistics.calibration_estimate",
    "Central": "trust",
    "Clear": "trust",
    "Collected": "trust",
    "CopyError": "errors",
    "Curve": "statistics.curve",
    "DataError": "errors",
    "Distances": "statistics.distances",
    "Ecdf": "statistics.ecdf",
    "Grid": "grids",
    "HierarchyAuc": "statistics.recipes_hierarchy",
    "HistogramQueries": "statistics.recipes_whole",
    "HosmerLemeshow": "statistics.calibration",
    "Ledger": "ledger",
    "LedgerError": "errors",
    "Local": "trust",
    "OgiveError": "errors",
    "Paired": "statistics.recipes_pairs",
    "Pairs": "trust",
    "ParameterError": "errors",
    "PeerError": "errors",
    "Plan": "planning",
    "PlanRow": "planning",
    "PointwiseCurve": "pointwise",
    "PrivacyUnit": "privacy",
    "PrivateSelection": "statistics.recipes_selected",
    "Projection": "statistics.recipes_whole",
    "Provenance": "provenance",
    "PureDP": "privacy",
    "QuantileEstimates": "statistics.quantiles",
    "Quantiles": "statistics.quantiles",
    "RefusalError": "errors",
    "ReleaseMismatchError": "errors",
    "Reports": "statistics.recipes_reports",
    "Roc": "statistics.roc",
    "RocBand": "statistics.roc_band",
    "RocEstimate": "statistics.roc_estimate",
    "RunningTotal": "streams",
    "ScaleError": "errors",
    "SecAgg": "trust",
    "Servers": "trust",
    "Simulation": "trust",
    "Session": "session",
    "UnsupportedError": "errors",
    "Ustatistic": "statistics.ustatistic",
    "UstatisticEstimate": "statistics.ustatistic_estimate",
    "ZeroConcentratedDP": "privacy",
    "boxplot": "functions",
    "describe_collection": "collecting",
    "design_hats": "strategies",
    "design_histogram": "strategies",
    "design_path": "strategies",
    "design_projection": "strategies",
    "design_square_root": "strategies",
    "design_tree": "strategies",
    "distances": "statistics.distances",
    "ecdf": "functions",
    "estimate_collection": "collecting",
    "find_bounds": "functions",
    "hosmer_lemeshow": "functions",
    "merge": "statistics.merging",
    "optimal_bins": "statistics.pairwise.bounds_generic",
    "plan": "planning",
    "quantiles": "functions",
    "release": "releasing",
    "required_privacy": "planning",
    "roc": "functions",
    "ustatistic": "functions",
}

_PARTS = (
    "accounting",
    "columns",
    "crypto",
    "datasets",
    "errors",
    "kernels",
    "local",
    "noise",
    "pairs",
    "pate",
    "plots",
    "privacy",
    "queries",
    "report",
    "statistics",
    "streams",
    "trust",
)
"""Packages and modules with public names that are not repeated here."""

__all__ = [
    "Account",
    "AccountWarning",
    "AdaptiveQuantiles",
    "Adjacency",
    "ApproxDP",
    "Band",
    "Bounds",
    "BoundsEstimate",
    "Box",
    "Boxplot",
    "Boxplots",
    "BudgetError",
    "Calibration",
    "Central",
    "Clear",
    "Collected",
    "CopyError",
    "Curve",
    "DataError",
    "Distances",
    "Ecdf",
    "Grid",
    "HierarchyAuc",
    "HistogramQueries",
    "HosmerLemeshow",
    "Ledger",
    "LedgerError",
    "Local",
    "OgiveError",
    "Paired",
    "Pairs",
    "ParameterError",
    "PeerError",
    "Plan",
    "PlanRow",
    "PointwiseCurve",
    "PrivacyUnit",
    "PrivateSelection",
    "Projection",
    "Provenance",
    "PureDP",
    "QuantileEstimates",
    "Quantiles",
    "RefusalError",
    "ReleaseMismatchError",
    "Reports",
    "Roc",
    "RocBand",
    "RocEstimate",
    "RunningTotal",
    "ScaleError",
    "SecAgg",
    "Servers",
    "Session",
    "Simulation",
    "UnsupportedError",
    "Ustatistic",
    "UstatisticEstimate",
    "ZeroConcentratedDP",
    "boxplot",
    "describe_collection",
    "design_hats",
    "design_histogram",
    "design_path",
    "design_projection",
    "design_square_root",
    "design_tree",
    "distances",
    "ecdf",
    "estimate_collection",
    "find_bounds",
    "hosmer_lemeshow",
    "merge",
    "optimal_bins",
    "plan",
    "quantiles",
    "release",
    "required_privacy",
    "roc",
    "ustatistic",
]


def __getattr__(name: str) -> Any:
    if name in _PARTS:
        return import_module(f"ogive.{name}")
    if name not in _HOME:
        raise AttributeError(f"module 'ogive' has no attribute {name!r}")
    value = getattr(import_module(f"ogive.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, *_PARTS, "__version__"])
