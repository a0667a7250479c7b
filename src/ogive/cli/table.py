"""The table of commands, which imports none of them."""

from ogive.statistics.kinds import COMMANDED

COMMANDS = {
    **{name: (f"ogive.cli.release:{name}", f"Release {kind.summary}.") for name, kind in COMMANDED.items()},
    "local": (
        "ogive.cli.local.commands:app",
        "Collect randomized reports from their owners, by files: describe, show, randomize, aggregate.",
    ),
    "pate": (
        "ogive.cli.pate.app:app",
        "Label public inputs by a vote of teachers: train, plan, label, cost, sanitize.",
    ),
    "merge": ("ogive.cli.merge:merge", "Add up released curves of different people: sites or months."),
    "compare": ("ogive.cli.compare:compare", "Say how far released curves are from each other, or from records."),
    "ledger": ("ogive.cli.ledger:app", "Show, limit and export what was spent on which data."),
    "plan": ("ogive.cli.plan:app", "Predict price and error of every method, spending nothing."),
    "report": ("ogive.cli.report:report", "Write releases, or all that a ledger released, as one page of HTML."),
    "completion": ("ogive.cli.completion:completion", "Print what makes a shell complete commands and options."),
    "demo": ("ogive.cli.demo:demo", "Show the whole story on this machine; ends in a report."),
    "reproduce": ("ogive.cli.reproduce:app", "Redo the figures and tables of the papers, with a verdict for each."),
}
"""Each command's name, where its function (or App of commands) is, loaded when first used, and its summary."""
