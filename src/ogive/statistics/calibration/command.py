"""What the command line cannot read off the fields of Hosmer and Lemeshow's test."""

from ogive.statistics.options import Command

COMMAND = Command(
    names={"df": "degrees-of-freedom"},
    help={
        "method": "How the limits of the groups are found: auto, path, tree_ls, hat_ls, sqrt, symmetric or ring.",
        "split": "Share of the budget that finds the groups, between 0 and 1; the best one by default.",
        "df": "Of the chi-square reference: by default one for each group; fitted for two fewer, where the model was "
        "fitted on these records; or a number.",
    },
    groups={"groups": "Question"},
)
