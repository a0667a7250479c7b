"""The table of commands, which imports none of them."""

COMMANDS = {
    "ecdf": ("ogive.cli.ecdf:ecdf", "Release a whole distribution function."),
    "quantiles": ("ogive.cli.quantiles:quantiles", "Release quantiles with simultaneous intervals."),
    "boxplot": ("ogive.cli.boxplot:boxplot", "Release a boxplot, all records in one or a box for each group."),
    "roc": ("ogive.cli.roc:roc", "Release the ROC curve of a score, with its AUC."),
    "calibration": ("ogive.cli.calibration:calibration", "Test whether predicted probabilities agree with labels."),
    "ustat": ("ogive.cli.ustat:ustat", "Release a statistic of pairs: Gini, Kendall's tau, AUC, collision entropy."),
    "bounds": ("ogive.cli.bounds:bounds", "Find bounds of a column whose range nobody knows."),
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
