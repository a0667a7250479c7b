"""Which columns a statistic takes as public, for tests that release it in a unit that declares just those."""


def public_of(statistic, adjacency="replace"):
    """The columns that must be declared for a statistic, under REPLACE; none where it hides everything."""
    if getattr(adjacency, "value", adjacency) != "replace":
        return ()
    classes = getattr(statistic, "classes", None)
    named = [
        statistic.label if getattr(statistic, "public_labels", None) and hasattr(statistic, "label") else None,
        getattr(statistic, "by", None) if getattr(statistic, "public_groups", None) else None,
        getattr(classes, "column", None),
    ]
    return tuple(column for column in named if column is not None)
