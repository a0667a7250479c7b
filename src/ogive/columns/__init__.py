"""Columns of a table and their public domains.

A record becomes a row of numbers, one for each column: a number of the grid, or the place of a category
in its declared list. A `Domain` puts several columns side by side and numbers the combinations of
their bins and categories, its symbols. Nothing here needs more than numpy, so that it can be shipped to devices.
"""

from ogive.columns.binning import (
    FRACTION_POLICIES,
    MISSING_POLICIES,
    OUTSIDE_POLICIES,
    Binning,
    Missing,
    MissingPolicy,
    OutsidePolicy,
)
from ogive.columns.categories import (
    LISTING_POLICIES,
    MAX_LISTED,
    MAX_SYMBOLS,
    MEMBERSHIP_POLICIES,
    Categories,
    Listed,
    ListingPolicy,
    Membership,
    MembershipPolicy,
    OpenCategories,
)
from ogive.columns.domain import MAX_GROUPS, Column, Domain, ReadColumn, Schema, may_drop
from ogive.columns.label import Label
from ogive.columns.values import LARGEST_LABEL, LONGEST_LABEL, LabelValue, LabelValues, is_value, storable
