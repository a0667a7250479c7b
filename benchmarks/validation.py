"""Error of each measure of a validation, against the best release of that measure alone at the same price.

    python benchmarks/validation.py [--quick]

Records: risks of a made-up model with a calibration slope of 0.8, 36 % positive. Errors are root mean squared
distances from the exact value of the same records, not of their bins, over releases with fixed keys. A measure that is
a mean is released alone as `Mean` of a number of each record; a share of the positives as `Mean` of the records of that
class; the AUC as a statistic of pairs, and as that of a ROC curve with the bins of the validation.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from harness import record, row

from ogive.noise import KeyedSource
from ogive.privacy import PureDP
from ogive.releasing.release import release
from ogive.statistics import Mean, Roc, Subset, Ustatistic, Validation
from ogive.trust import Central, Clear

THRESHOLD = 0.3
ALONE, CURVE, PAIRS = "the mean alone", "a ROC curve", "a statistic of pairs"


def made(records: int) -> dict[str, np.ndarray]:
    """Risks, outcomes and what each record adds to a mean."""
    rng = np.random.default_rng(0)
    odds = rng.normal(-1, 1.2, records)
    scores = 1 / (1 + np.exp(-odds))
    labels = (rng.random(records) < 1 / (1 + np.exp(-(0.2 + 0.8 * odds)))).astype(int)
    weight, called = THRESHOLD / (1 - THRESHOLD), scores > THRESHOLD
    return {
        "s": scores,
        "y": labels,
        "squares": (scores - labels) ** 2,
        "less": labels - scores,
        "called": called.astype(int),
        "benefit": np.where(called, np.where(labels == 1, 1.0, -weight), 0.0),
    }


def measured(records: int, privacy: PureDP, runs: int) -> list[dict[str, Any]]:
    """Rows of a number of records."""
    table = made(records)
    trust, positive, question = Central(table), table["y"] == 1, Validation("s", "y")
    exact = release(question, trust=Clear(table))

    def released(statistic: Any) -> list[Any]:
        sources = map(KeyedSource.from_seed, range(runs))
        return [release(statistic, trust=trust, privacy=privacy, source=source) for source in sources]

    def error(values: list[float], truth: float) -> float:
        return float(np.sqrt(np.mean((np.array(values) - truth) ** 2)))

    whole, rows = released(question), []
    benefit = Mean("benefit", (-THRESHOLD / (1 - THRESHOLD), 1))
    peers = (
        ("brier", ALONE, Mean("squares", (0, 1)), table["squares"].mean()),
        ("mean_difference", ALONE, Mean("less", (-1, 1)), table["less"].mean()),
        ("net_benefit", ALONE, benefit, table["benefit"].mean()),
        ("sensitivity", ALONE, Subset(Mean("called", (0, 1)), "y == 1"), table["called"][positive].mean()),
        ("auc", CURVE, Roc("s", "y", (0, 1), bins=100), exact.measure("auc").value),
        ("auc", PAIRS, Ustatistic(("s", "y"), "auc", bounds=(0, 1), bins=100), exact.measure("auc").value),
        *((name, "", None, exact.measure(name).value) for name in ("slope", "calibration_in_the_large", "ece")),
    )
    for name, peer, statistic, truth in peers:
        where = {"threshold": THRESHOLD} if name in ("sensitivity", "net_benefit") else {}
        alone = [] if statistic is None else [getattr(each, "auc", None) or each.value for each in released(statistic)]
        rows.append(
            row(
                f"validation, {records} records, {privacy}",
                f"{name} error",
                "",
                error([each.measure(name, **where).value for each in whole], truth),
                runs=runs,
                larger_is_better=False,
                **({"peer": peer, "peer_value": error(alone, truth)} if alone else {}),
            )
        )
    return rows


def main() -> None:
    """Measure and record."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="few runs, nothing recorded")
    quick = parser.parse_args().quick
    sizes, runs = ((5000,), 20) if quick else ((5000, 50_000), 100)
    record([each for records in sizes for each in measured(records, PureDP(1), runs)], quick=quick)


if __name__ == "__main__":
    main()
