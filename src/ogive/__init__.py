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
    from ogive.statistics.bounds.estimate import BoundsEstimate
    from ogive.statistics.bounds.statistic import Bounds
    from ogive.statistics.boxplot.boxes import Box
    from ogive.statistics.boxplot.estimate import Boxplots
    from ogive.statistics.boxplot.statistic import Boxplot
    from ogive.statistics.calibration.estimate import Calibration
    from ogive.statistics.calibration.statistic import HosmerLemeshow
    from ogive.statistics.curve.bands.simultaneous import Band
    from ogive.statistics.curve.distances import Distances, distances
    from ogive.statistics.curve.estimate import Curve
    from ogive.statistics.curve.merging.merge import merge
    from ogive.statistics.ecdf.statistic import Ecdf
    from ogive.statistics.methods.adaptive import AdaptiveQuantiles
    from ogive.statistics.methods.reports import Reports
    from ogive.statistics.methods.selected import PrivateSelection
    from ogive.statistics.methods.whole import HistogramQueries, Projection
    from ogive.statistics.quantiles.estimate import QuantileEstimates
    from ogive.statistics.quantiles.statistic import Quantiles
    from ogive.statistics.roc.band import RocBand
    from ogive.statistics.roc.estimate import RocEstimate
    from ogive.statistics.roc.statistic import Roc
    from ogive.statistics.ustatistic.estimate import UstatisticEstimate
    from ogive.statistics.ustatistic.means.bounds import optimal_bins
    from ogive.statistics.ustatistic.pairs.options import Paired
    from ogive.statistics.ustatistic.reports.trees.options import HierarchyAuc
    from ogive.statistics.ustatistic.statistic import Ustatistic
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
    "AdaptiveQuantiles": "statistics.methods.adaptive",
    "Adjacency": "privacy",
    "ApproxDP": "privacy",
    "Band": "statistics.curve.bands.simultaneous",
    "Bounds": "statistics.bounds.statistic",
    "BoundsEstimate": "statistics.bounds.estimate",
    "Box": "statistics.boxplot.boxes",
    "Boxplot": "statistics.boxplot.statistic",
    "Boxplots": "statistics.boxplot.estimate",
    "BudgetError": "errors",
    "Calibration": "statistics.calibration.estimate",
    "Central": "trust",
    "Clear": "trust",
    "Collected": "trust",
    "CopyError": "errors",
    "Curve": "statistics.curve.estimate",
    "DataError": "errors",
    "Distances": "statistics.curve.distances",
    "Ecdf": "statistics.ecdf.statistic",
    "Grid": "grids",
    "HierarchyAuc": "statistics.ustatistic.reports.trees.options",
    "HistogramQueries": "statistics.methods.whole",
    "HosmerLemeshow": "statistics.calibration.statistic",
    "Ledger": "ledger",
    "LedgerError": "errors",
    "Local": "trust",
    "OgiveError": "errors",
    "Paired": "statistics.ustatistic.pairs.options",
    "Pairs": "trust",
    "ParameterError": "errors",
    "PeerError": "errors",
    "Plan": "planning",
    "PlanRow": "planning",
    "PointwiseCurve": "pointwise",
    "PrivacyUnit": "privacy",
    "PrivateSelection": "statistics.methods.selected",
    "Projection": "statistics.methods.whole",
    "Provenance": "provenance",
    "PureDP": "privacy",
    "QuantileEstimates": "statistics.quantiles.estimate",
    "Quantiles": "statistics.quantiles.statistic",
    "RefusalError": "errors",
    "ReleaseMismatchError": "errors",
    "Reports": "statistics.methods.reports",
    "Roc": "statistics.roc.statistic",
    "RocBand": "statistics.roc.band",
    "RocEstimate": "statistics.roc.estimate",
    "RunningTotal": "streams",
    "ScaleError": "errors",
    "SecAgg": "trust",
    "Servers": "trust",
    "Simulation": "trust",
    "Session": "session",
    "UnsupportedError": "errors",
    "Ustatistic": "statistics.ustatistic.statistic",
    "UstatisticEstimate": "statistics.ustatistic.estimate",
    "ZeroConcentratedDP": "privacy",
    "boxplot": "functions",
    "describe_collection": "collecting",
    "design_hats": "strategies",
    "design_histogram": "strategies",
    "design_path": "strategies",
    "design_projection": "strategies",
    "design_square_root": "strategies",
    "design_tree": "strategies",
    "distances": "statistics.curve.distances",
    "ecdf": "functions",
    "estimate_collection": "collecting",
    "find_bounds": "functions",
    "hosmer_lemeshow": "functions",
    "merge": "statistics.curve.merging.merge",
    "optimal_bins": "statistics.ustatistic.means.bounds",
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
