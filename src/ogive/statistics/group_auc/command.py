"""What the command line cannot read off the fields of areas between groups."""

from ogive.statistics.options import Command

COMMAND = Command(
    help={
        "group_values": "The groups, public: words, or one word with commas.",
        "other": "What a group that is not declared means: refuse, count or drop.",
        "missing_group": "What a missing group means: refuse, count or drop.",
    },
    groups=dict.fromkeys(("group_values", "other", "missing_group"), "Groups that are compared"),
)
