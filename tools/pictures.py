"""Draw the pictures of README and the manual that show ogive itself: a curve, boxplots, and a report in a browser.

    python tools/pictures.py

The noise is drawn from a fixed key, so the pictures stay the same. Chromium photographs pages (Debian: make services).
"""

from __future__ import annotations

import importlib
import sys
import tempfile
from pathlib import Path

import ogive
from ogive.noise import KeyedSource
from ogive.plots import plot_curve, save
from ogive.report import write_report

ROOT = Path(__file__).parents[1]
FIGURES = ROOT / "docs" / "figures"
KEY = bytes(31) + b"\x08"

# of each picture: the element whose top is its top, its height, and the screen
SHOTS = {
    "roc": ("article:has(#release-2)", 700, {"width": 1000}),
    "dark": ("section.budget", 585, {"width": 760, "dark": True}),
    "phone": ("body", 780, {"width": 390}),
}


def draw_curve() -> None:
    """Every tenth customer's age at epsilon 0.2, with the band and the exact curve. The data are public."""
    table = {"age": ogive.datasets.bank()["age"].to_numpy()[::10]}
    question = ogive.Ecdf("age", bounds=(18, 95), grid="integers")
    key = KeyedSource(KEY)
    curve = ogive.release(question, trust=ogive.Central(table), privacy=ogive.PureDP("0.2"), source=key)
    axes = plot_curve(curve, truth=ogive.release(question, trust=ogive.Clear(table)))
    save(axes, FIGURES / "curve.png")
    (FIGURES / "curve.png").chmod(0o644)


def draw_boxes() -> None:
    """Age by marital status at epsilon 0.2, as boxes beside the exact ones and as violins. The data are public."""
    bank = ogive.datasets.bank()
    groups = ("single", "married", "divorced")
    question = ogive.Boxplot("age", bounds=(18, 95), grid="integers", by="marital", groups=groups)
    key = KeyedSource(KEY)
    boxes = ogive.release(question, trust=ogive.Central(bank), privacy=ogive.PureDP("0.2"), source=key)
    exact = ogive.release(question, trust=ogive.Clear(bank))
    for name, axes in (("boxplot", boxes.plot(truth=exact)), ("boxplot-violin", boxes.plot(kind="violin"))):
        save(axes, FIGURES / f"{name}.png")
        (FIGURES / f"{name}.png").chmod(0o644)


def photograph_report() -> None:
    """Parts of a report on the bank's customers: the ROC curve, the budget in the dark, and a page on a phone."""
    sys.path.insert(0, str(ROOT / "tests"))
    chromium = importlib.import_module("helpers.chromium")
    bank = ogive.datasets.bank()
    with tempfile.TemporaryDirectory() as folder, ogive.Session(bank, name="bank", limit=ogive.PureDP(2)) as session:
        spend = {"privacy": ogive.PureDP("0.5"), "source": KeyedSource(KEY)}
        session.ecdf("age", bounds=(18, 95), grid="integers", **spend)
        session.roc("duration", "y", bounds=(0, 5000), positive="yes", negative="no", **spend)
        page = write_report(session.answers, Path(folder) / "report.html", title="Customers", account=session.account)
        with chromium.Browser(chromium.find(), f"{folder}/profile") as browser:
            for name, (part, height, screen) in SHOTS.items():
                shown = chromium.Page(browser, page, density=1.5, **screen)
                (FIGURES / f"report-{name}.png").write_bytes(shown.picture(part, height))
                shown.close()


if __name__ == "__main__":
    draw_curve()
    draw_boxes()
    photograph_report()
