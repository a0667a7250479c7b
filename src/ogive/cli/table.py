"""The table of commands, which imports none of them."""

from ogive.statistics.kinds import COMMANDED

COMMANDS = {
    **{name: (f"ogive.cli.release:{name}", f"Release {kind.summary}.") for name, kind in COMMANDED.items()},
    "local": (
        "ogive.cli.local:app",
        "Collect randomized reports from their owners, by files or by a service.",
    ),
    "pate": (
        "ogive.cli.pate:app",
        "Label public inputs by a noisy vote of teachers: train, plan, label, cost, sanitize.",
    ),
    "merge": ("ogive.cli.curves:merge", "Merge released curves of different people, such as sites or months."),
    "compare": (
        "ogive.cli.curves:compare",
        "Measure the distances between released curves, or from curves to records.",
    ),
    "study": (
        "ogive.cli.study:app",
        "Release statistics of several organizations that keep their rows: new, keys, check, serve, release, status.",
    ),
    "server": (
        "ogive.cli.parties:server",
        "Run one of the servers to which people upload shares of their records.",
    ),
    "upload": ("ogive.cli.parties:upload", "Send shares of a record to the servers of a study."),
    "pair": ("ogive.cli.parties:pair", "Take part in a study in which people meet in pairs."),
    "agent": ("ogive.cli.parties:agent", "Run the agent of one party of a study, where its records are."),
    "ledger": ("ogive.cli.ledger:app", "Show, limit and export the privacy spent on each data set."),
    "plan": ("ogive.cli.plan:app", "Predict price and error of every method before anything is spent."),
    "show": ("ogive.cli.show:show", "Print what a saved file holds: a release, a plan, a cost or a statement."),
    "report": ("ogive.cli.show:report", "Write releases, or everything that a ledger released, as one page of HTML."),
    "completion": (
        "ogive.cli.installation:completion",
        "Print the script that completes commands and options in a shell.",
    ),
    "demo": ("ogive.cli.demo:demo", "Run the complete workflow on example data and write a report."),
    "reproduce": (
        "ogive.cli.installation:reproduce",
        "Reproduce the figures and tables of the papers, with a verdict for each.",
    ),
    "bench": ("ogive.cli.installation:app", "Compare results of the benchmarks: compare."),
    "warmup": ("ogive.cli.installation:warmup", "Compile ahead of time, on this machine, the code that releases use."),
}
"""Each command's name, where its function (or App of commands) is, loaded when first used, and its summary."""
