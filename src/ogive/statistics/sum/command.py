"""What the command line cannot read off the fields of a sum."""

from ogive.statistics.ecdf.command import OWNER_HELP
from ogive.statistics.options import Command

COMMAND = Command(
    help={
        "bounds": "Smallest and largest possible value, public: two numbers. Values outside count as the nearer one."
    },
    groups={"step": "What is measured"},
    owner_help={"missing": OWNER_HELP["missing"]},
    owners={"missing": ("refuse", "low", "high"), "step": ()},
    compared="number",
)
