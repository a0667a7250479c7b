"""Private aggregation of teacher ensembles: consensus labels, their true price, and students.

Names load when they are first used: prices need no learning library.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ogive.pate.aggregators import ConfidentGNMax, GNMax, InteractiveGNMax, LargestMargins, LNMax
    from ogive.pate.costs.cost import PrivacyCost, privacy_cost
    from ogive.pate.costs.filter import PrivacyFilter
    from ogive.pate.labelling import Ballots, label
    from ogive.pate.sensitivity.gnss import gnss_rdp
    from ogive.pate.sensitivity.sanitize import sanitize
    from ogive.pate.sensitivity.sanitized import SanitizedCost
    from ogive.pate.sensitivity.smooth import SmoothCost, smooth_cost
    from ogive.pate.tallies import Tallied
    from ogive.pate.votes import check_votes, read_votes, tally

_HOME = {
    "Ballots": "labelling",
    "ConfidentGNMax": "aggregators",
    "GNMax": "aggregators",
    "InteractiveGNMax": "aggregators",
    "LNMax": "aggregators",
    "LargestMargins": "aggregators",
    "PrivacyCost": "costs.cost",
    "PrivacyFilter": "costs.filter",
    "SanitizedCost": "sensitivity.sanitized",
    "SmoothCost": "sensitivity.smooth",
    "Tallied": "tallies",
    "check_votes": "votes",
    "gnss_rdp": "sensitivity.gnss",
    "label": "labelling",
    "privacy_cost": "costs.cost",
    "read_votes": "votes",
    "sanitize": "sensitivity.sanitize",
    "smooth_cost": "sensitivity.smooth",
    "tally": "votes",
}

__all__ = [
    "Ballots",
    "ConfidentGNMax",
    "GNMax",
    "InteractiveGNMax",
    "LNMax",
    "LargestMargins",
    "PrivacyCost",
    "PrivacyFilter",
    "SanitizedCost",
    "SmoothCost",
    "Tallied",
    "check_votes",
    "gnss_rdp",
    "label",
    "privacy_cost",
    "read_votes",
    "sanitize",
    "smooth_cost",
    "tally",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"ogive.pate.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return __all__
