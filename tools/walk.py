"""Walk through ogive as a new user does, on a table like a download: `python tools/walk.py framingham.csv.gz`.

The table is made from the Framingham teaching table: missing values are written NA, as R does, every row gets the
number of a patient and the day of a visit, and every third patient came several times. Then the commands of
`COMMANDS` run one after the other in the folder that is named by --folder, each in a process of its own, with the
program that belongs to the Python that runs this script. A command that fails ends the walk.
"""

from __future__ import annotations

import argparse
import csv
import datetime
import gzip
import math
import random
import shlex
import subprocess
import sys
from pathlib import Path

TABLE = "patients.csv"
FIRST_DAY = datetime.date(2019, 1, 1)
DAYS = 4 * 365
PAID = "--person patient --max-rows-per-person 1 --ledger budget.db --limit-epsilon 5"

DESCRIBED = (
    "--columns age male education totChol sysBP --bounds age=18:100,totChol=100:400,sysBP=80:260 "
    "--values male=1 education=1,2,3,4 --missing totChol=240 education=count"
)

COMMANDS = [
    shlex.split(line.format(paid=PAID, table=DESCRIBED))
    for line in """
plan ecdf --bounds 18 100 --grid integers --records 4000 --epsilon 0.5
ecdf patients.csv --column age --bounds 18 100 --grid integers {paid} --epsilon 0.5 -o age.json --plot age.png
ecdf patients.csv --column visit --bounds 2019-01-01 2022-12-31 --grid months {paid} --epsilon 0.5 -o visit.json
quantiles patients.csv --column totChol --bounds 100 400 --missing 240 {paid} --epsilon 0.5 -o cholesterol.json
boxplot patients.csv --column sysBP --bounds 80 260 --by TenYearCHD --by-groups 0 1 {paid} --epsilon 0.5 -o box.json
roc patients.csv --score risk --label TenYearCHD --bounds 0 1 {paid} --epsilon 1 -o roc.json --plot roc.png
calibration patients.csv --probability risk --label TenYearCHD {paid} --epsilon 1 -o calibration.json
describe patients.csv {table} --by TenYearCHD --by-groups 0 1 {paid} --epsilon 1 -o table.json --plot table.png
ledger show budget.db
report age.json visit.json cholesterol.json box.json roc.json calibration.json -o report.html --title Heart
report table.json -o table.html
""".strip().splitlines()
]


def risk(row: dict[str, str]) -> float:
    """A score that was fixed before the walk: a logistic model of age, sex, blood pressure and cigarettes a day."""
    cigarettes = 0.0 if row["cigsPerDay"] == "NA" else float(row["cigsPerDay"])
    odds = -7.9 + 0.065 * float(row["age"]) + 0.5 * float(row["male"]) + 0.017 * float(row["sysBP"]) + 0.02 * cigarettes
    return 1 / (1 + math.exp(-odds))


def make_table(source: Path, target: Path) -> int:
    """Write the table as a download would be; always the same. Returns its number of rows."""
    draw = random.Random(4240)
    with gzip.open(source, "rt", encoding="utf-8", newline="") as file:
        patients = list(csv.DictReader(file))
    rows = []
    for number, patient in enumerate(patients, start=1):
        for _ in range(1 if number % 3 else draw.randint(2, 4)):
            day = FIRST_DAY + datetime.timedelta(days=draw.randrange(DAYS))
            rows.append(
                {"patient": f"P{number:05}", "visit": day.isoformat(), **patient, "risk": f"{risk(patient):.4f}"}
            )
    draw.shuffle(rows)
    with target.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return len(rows)


def main(source: Path, folder: Path) -> None:
    """Make the table and run the commands."""
    print(f"{TABLE}: {make_table(source, folder / TABLE)} rows")
    for words in COMMANDS:
        print("\n$ ogive", *words, flush=True)
        subprocess.run([sys.executable, "-m", "ogive", *words], cwd=folder, check=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Walk through ogive as a new user does.")
    parser.add_argument("source", type=Path, help="framingham.csv.gz")
    parser.add_argument("--folder", type=Path, default=Path(), help="where the table and the results go")
    given = parser.parse_args()
    main(given.source.resolve(), given.folder)
