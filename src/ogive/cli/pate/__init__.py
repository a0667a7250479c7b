"""`ogive pate`: labels by the votes of teachers, what they cost, and what a run would bring."""

from __future__ import annotations

from cyclopts import App

app = App(name="pate", help="Label public inputs by a noisy vote of teachers: train, plan, label, cost, sanitize.")
for _file, _name, _summary in (
    ("train", "train", "Train teachers on parts of private records, and count their votes on public inputs."),
    ("label", "plan", "Choose aggregator, threshold and noise on public or simulated votes; spends nothing."),
    ("label", "label", "Release labels, paid from a ledger."),
    ("cost", "cost", "Say what a run costs; a number that depends on the votes is private."),
    ("cost", "sanitize", "Publish a data-dependent cost, with noise."),
):
    app.command(f"ogive.cli.pate.{_file}:{_name}", name=_name, help=_summary)
