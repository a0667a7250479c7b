"""Columns of a table and their public domains.

A record becomes a row of numbers, one for each column: a number of the grid, or the place of a category
in its declared list. A `Domain` puts several columns side by side and numbers the combinations of
their bins and categories, its symbols. Nothing here needs more than numpy, so that it can be shipped to devices.
"""

from ogive.columns.categories import (
    LARGEST_LABEL,
    LISTING_POLICIES,
    LONGEST_LABEL,
    MAX_LISTED,
    MAX_SYMBOLS,
    MEMBERSHIP_POLICIES,
    Categories,
    Label,
    LabelValue,
    LabelValues,
    Listed,
    ListingPolicy,
    Membership,
    MembershipPolicy,
    OpenCategories,
    is_value,
    storable,
)
from ogive.columns.grids import (
    FRACTION_POLICIES,
    MAX_GROUPS,
    MISSING_POLICIES,
    OUTSIDE_POLICIES,
    Binning,
    Column,
    Domain,
    Missing,
    MissingPolicy,
    OutsidePolicy,
    ReadColumn,
    Schema,
    may_drop,
)
