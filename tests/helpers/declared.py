"""Which columns a statistic takes as public, for tests that release it in a unit that declares just those."""

from ogive.columns.predicates import columns_of


def public_of(statistic, adjacency="replace"):
    """The columns that must be declared for a statistic, under REPLACE; none where it hides everything."""
    if getattr(adjacency, "value", adjacency) != "replace":
        return ()
    if hasattr(statistic, "statistic"):
        compared = columns_of(statistic.where) if hasattr(statistic, "where") else (statistic.by,)
        public = compared if statistic.public else ()
        return tuple(dict.fromkeys((*public, *public_of(statistic.statistic, adjacency))))
    classes = getattr(statistic, "classes", None)
    named = [
        statistic.label if getattr(statistic, "public_labels", None) and hasattr(statistic, "label") else None,
        getattr(statistic, "by", None) if getattr(statistic, "public_groups", None) else None,
        getattr(classes, "column", None),
    ]
    return tuple(column for column in named if column is not None)
