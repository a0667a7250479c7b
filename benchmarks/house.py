"""Structure of the code in figures: what one call runs, circles, what one feature touches, lines, imports.

    python benchmarks/house.py [--json] [--details] [--against benchmarks/house_before.json]

Run before and after a reorganization: `--json` prints what `--against` reads. Nothing here is a test. The figures:

**Calls.** Functions and files of the package that one call runs, as `tools/hops.py` counts them.

**Circles.** An import is a statement anywhere: at the top, inside a function, for types only. `from a.b import c` is an
import of `a.b.c` where that is a module, else of `a.b`. A package's `__init__` is a module like others; that of the
whole package, the front door, is left out with what is imported from it. A circle is a largest set of two or more
modules each of which is reached from each other one by imports. A room is what lies directly in the package: a folder,
with all that is in it, or a module. A folder's own modules are those directly in it, `__init__` among them. Two
modules, rooms or folders are a pair if each imports the other, or its modules do. Texts such as "ogive.cli.ecdf:ecdf"
that name a module are imports by name; circles are counted without them, and once more with them.

**Features.** What is named in existing files when a statistic or trust model is added. Its own files are those with one
of its words in their path, those listed beside them, and files that only its own files import. Other files are touched
if they name its classes or functions, have its name or schema as a text, or import its own files. Files that
show the package off use features as anybody does, and count in neither. An option touches every file that
has it as a parameter, field, keyword, attribute or text, so also those that compute with it; it is declared in those
that have it as a parameter or field. Files are those of Python in the package. What a feature of today touches is more
than what a new one must: `tests/meta/test_scaffold.py` adds a statistic and a trust model to a copy of the package,
with one changed file each beside the stubs that `make stubs` writes.

**Lines.** Of Python: documentation, which is comments and strings that stand alone, with the blank lines inside these;
code, also where a comment follows; blank, which is the rest. Of pages: documentation and blank.

**Imports.** Modules loaded, and heavy packages among them, at the end of a fresh process; processor seconds of that
process, user and system, the best of three.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tools"))

from hops import measure_calls
from house_structure import ROOT, SOURCE, Table, measure_circles, measure_features, measure_lines

# --- what is imported ---

HEAVY = (
    "numpy", "scipy.stats", "sqlalchemy", "pandas", "numba", "duckdb", "ibis", "pyarrow", "matplotlib", "sklearn",
    "torch", "cryptography", "dp_accounting", "cyclopts",
)  # fmt: skip

_ECDF = """
import random
import ogive
generator = random.Random(1)
values = [generator.gauss(50, 10) for _ in range(1000)]
ogive.ecdf(values, bounds=(0, 100), bins=100, privacy=ogive.PureDP(1))
"""
_COMMAND = "from ogive.cli import main\nassert main({arguments!r}) == 0"

_TELL = """
import json, sys
with open({place!r}, "w") as file:
    json.dump(sorted(sys.modules), file)
"""


def processed(program: str, folder: Path) -> tuple[list[str], float]:
    """Names of the modules that are loaded at the end of a program in a fresh process, and its processor seconds.

    Bytecode is kept in the folder, as an installation keeps it.

    Raises:
        RuntimeError: it fails.
    """
    place = folder / "modules.json"
    environment = {
        **{name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"},
        "PYTHONPATH": os.pathsep.join([str(SOURCE.parent), os.environ.get("PYTHONPATH", "")]),
        "PYTHONPYCACHEPREFIX": str(folder / "bytecode"),
    }
    with (folder / "output.txt").open("w", encoding="utf-8") as output:
        child = subprocess.Popen(
            [sys.executable, "-c", program + _TELL.format(place=str(place))],
            cwd=folder, env=environment, stdout=output, stderr=output,
        )  # fmt: skip
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise RuntimeError((folder / "output.txt").read_text(encoding="utf-8"))
    return json.loads(place.read_text(encoding="utf-8")), usage.ru_utime + usage.ru_stime


def measure_imports(runs: int = 3) -> Table:
    """What is loaded after each of several programs, and the processor time of each."""
    table: Table = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        generator = random.Random(1)
        with (folder / "values.csv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([["value"], *([generator.gauss(50, 10)] for _ in range(1000))])
        asked = ["ecdf", "values.csv", "--column", "value", "--bounds", "0", "100", "--bins", "100", "--epsilon", "1"]
        programs = {
            "nothing": "pass",
            "import ogive": "import ogive",
            "one ogive.ecdf": _ECDF,
            "ogive --help": _COMMAND.format(arguments=["--help"]),
            "ogive ecdf FILE": _COMMAND.format(arguments=asked),
        }
        for title, program in programs.items():
            modules, seconds = processed(program, folder)
            seconds = min([seconds, *(processed(program, folder)[1] for _ in range(runs - 1))])
            table[title] = {
                "modules": len(modules),
                "of ogive": sum(module.partition(".")[0] == "ogive" for module in modules),
                "seconds": round(seconds, 2),
                "heavy": " ".join(package for package in HEAVY if package in modules) or "-",
            }
    return table


# --- the table ---


def commit(root: Path = ROOT) -> str:
    """The commit that is measured, with a sign where files that are measured differ from it; "unknown" without one."""
    try:
        head = _git(root, "rev-parse", "--short=12", "HEAD").strip()
        changed = _git(root, "status", "--porcelain", "--", "*.py", "*.md").strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return f"{head} with changes" if changed else head


def _git(root: Path, *arguments: str) -> str:
    return subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, text=True, check=True).stdout


def report(sections: Mapping[str, Table], before: Mapping[str, Table] | None = None) -> str:
    """The figures as text; with those of before each has two columns, and what is gone is shown, too."""
    blocks = []
    for title in dict.fromkeys([*(before or {}), *sections]):
        now, old = sections.get(title, {}), (before or {}).get(title, {})
        rows = list(dict.fromkeys([*now, *old]))
        heads = list(dict.fromkeys(head for row in rows for head in [*now.get(row, {}), *old.get(row, {})]))
        lines = [[title, *heads]] if before is None else [[title, *(text for head in heads for text in (head, "now"))]]
        for row in rows:
            cells = [row]
            for head in heads:
                if before is not None:
                    cells.append(str(old.get(row, {}).get(head, "")))
                cells.append(str(now.get(row, {}).get(head, "")))
            lines.append(cells)
        blocks.append(_aligned(lines))
    return "\n\n".join(blocks)


def _aligned(lines: list[list[str]]) -> str:
    """Lines in columns, those of numbers to the right."""
    columns = []
    for place, column in enumerate(zip(*lines, strict=True)):
        width = max(map(len, column))
        numbers = place and all(re.fullmatch(r"[\d.]*", cell) for cell in column[1:])
        columns.append([cell.rjust(width) if numbers else cell.ljust(width) for cell in column])
    return "\n".join("  ".join(line).rstrip() for line in zip(*columns, strict=True))


def main(arguments: list[str] | None = None) -> None:
    """Measure everything and print it."""
    options = argparse.ArgumentParser(description="Measure the structure of the code.")
    options.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options.add_argument("--details", action="store_true", help="also print which circles, and which files")
    options.add_argument("--against", type=Path, metavar="FILE", help="JSON of before, for two columns")
    given = options.parse_args(arguments)
    before = json.loads(given.against.read_text(encoding="utf-8")) if given.against else None
    sys.path.insert(0, str(SOURCE.parent))
    circle_table, circle_lines = measure_circles()
    feature_table, feature_lines = measure_features()
    sections = {
        "calls of one call": measure_calls(),
        "circles": circle_table,
        "features": feature_table,
        "lines": measure_lines(),
        "imports": measure_imports(),
    }
    at = {"commit": commit(), "python": sys.version.split()[0]}
    details = {"circles": circle_lines, "features": feature_lines}
    if given.json:
        print(json.dumps({**at, "sections": sections, "details": details}, indent=1))
        return
    if before:
        print(f"before: {before['commit']}, Python {before['python']}")
    print(f"commit {at['commit']}, Python {at['python']}\n\n{report(sections, before and before['sections'])}")
    if given.details:
        print("\n" + "\n".join([*circle_lines, *feature_lines]))


if __name__ == "__main__":
    main()
