"""Aliases of types live once: of arrays in `ogive.core.arrays`, of progress in `ogive.core.checks`."""

import re
from pathlib import Path

import ogive

ROOT = Path(ogive.__file__).parent
HOMES = ("core/arrays.py", "core/checks.py")
NAMED = re.findall(
    r"^[A-Z]\w+ = ((?:Callable|NDArray).+)$",
    "\n".join((ROOT / name).read_text(encoding="utf-8") for name in HOMES),
    re.M,
)


def repeated(text: str) -> list[str]:
    """Types that are written out though they have a name."""
    return [each for each in NAMED if each in text]


def test_no_module_writes_out_a_type_that_has_a_name():
    modules = [path for path in ROOT.rglob("*.py") if path.relative_to(ROOT).as_posix() not in HOMES]
    found = {path.name: repeated(path.read_text(encoding="utf-8")) for path in modules}
    assert len(modules) > 300
    assert {name: types for name, types in found.items() if types} == {}


def test_a_type_that_is_written_out_is_seen():
    assert repeated("Counts = NDArray[np.int64]") == ["NDArray[np.int64]"]
    assert repeated("def f(done: Callable[[int, int], None]) -> Int64: ...") == ["Callable[[int, int], None]"]
    assert repeated("def f(values: NDArray[np.str_], done: Callable[[int], None]) -> Int64: ...") == []
