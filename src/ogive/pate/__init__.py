"""Private aggregation of teacher ensembles: consensus labels, their true price, and students.

Names load when they are first used: prices need no learning library.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ogive.pate.adversarial import VirtualAdversarialStudent
    from ogive.pate.aggregators import ConfidentGNMax, GNMax, InteractiveGNMax, LargestMargins, LNMax
    from ogive.pate.costs.cost import privacy_cost
    from ogive.pate.costs.filter import PrivacyFilter
    from ogive.pate.costs.stated import PrivacyCost
    from ogive.pate.imagined import simulated_votes
    from ogive.pate.labelling import label
    from ogive.pate.networks import NetworkLearner, convolutional, perceptron
    from ogive.pate.partitioning import Partition, partition
    from ogive.pate.planned import LabelsPlan, LabelsPlanRow
    from ogive.pate.planning import plan_labels
    from ogive.pate.sensitivity.gnss import gnss_rdp
    from ogive.pate.sensitivity.sanitize import sanitize
    from ogive.pate.sensitivity.sanitized import SanitizedCost
    from ogive.pate.sensitivity.smooth import SmoothCost, smooth_cost
    from ogive.pate.students import Student, train_semi_supervised, train_student
    from ogive.pate.tallies import Tallied
    from ogive.pate.teachers import Teachers, labels_of, read_teachers, train_teachers, votes_of
    from ogive.pate.votes import check_votes, read_votes, tally
    from ogive.queries import Ballots

_HOME = {
    "Ballots": "labelling",
    "ConfidentGNMax": "aggregators",
    "GNMax": "aggregators",
    "InteractiveGNMax": "aggregators",
    "LNMax": "aggregators",
    "LabelsPlan": "planned",
    "LabelsPlanRow": "planned",
    "LargestMargins": "aggregators",
    "NetworkLearner": "networks",
    "Partition": "partitioning",
    "PrivacyCost": "costs.stated",
    "PrivacyFilter": "costs.filter",
    "SanitizedCost": "sensitivity.sanitized",
    "SmoothCost": "sensitivity.smooth",
    "Student": "students",
    "Tallied": "tallies",
    "Teachers": "teachers",
    "VirtualAdversarialStudent": "adversarial",
    "check_votes": "votes",
    "convolutional": "networks",
    "gnss_rdp": "sensitivity.gnss",
    "label": "labelling",
    "labels_of": "teachers",
    "partition": "partitioning",
    "perceptron": "networks",
    "plan_labels": "planning",
    "privacy_cost": "costs.cost",
    "read_teachers": "teachers",
    "read_votes": "votes",
    "sanitize": "sensitivity.sanitize",
    "simulated_votes": "imagined",
    "smooth_cost": "sensitivity.smooth",
    "tally": "votes",
    "train_semi_supervised": "students",
    "train_student": "students",
    "train_teachers": "teachers",
    "votes_of": "teachers",
}

__all__ = [
    "Ballots",
    "ConfidentGNMax",
    "GNMax",
    "InteractiveGNMax",
    "LNMax",
    "LabelsPlan",
    "LabelsPlanRow",
    "LargestMargins",
    "NetworkLearner",
    "Partition",
    "PrivacyCost",
    "PrivacyFilter",
    "SanitizedCost",
    "SmoothCost",
    "Student",
    "Tallied",
    "Teachers",
    "VirtualAdversarialStudent",
    "check_votes",
    "convolutional",
    "gnss_rdp",
    "label",
    "labels_of",
    "partition",
    "perceptron",
    "plan_labels",
    "privacy_cost",
    "read_teachers",
    "read_votes",
    "sanitize",
    "simulated_votes",
    "smooth_cost",
    "tally",
    "train_semi_supervised",
    "train_student",
    "train_teachers",
    "votes_of",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"ogive.pate.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return __all__
