"""Machine code is kept only where nobody else can write, and read where it cannot be written."""

import os
import shutil
import subprocess
import sys

import pytest
from helpers.forked import python
from helpers.scope import is_everything
from helpers.waiting import PATIENCE

import ogive
from ogive.core import compiling, machine_code
from ogive.core.machine_code import folders_of, is_guarded, user_folder

pytestmark = pytest.mark.skipif(not hasattr(os, "getuid"), reason="files have no owners here")


@pytest.fixture(scope="module")
def interpreter():
    """What runs `-c CODE`: a Python of its own, or in `make test` a process forked from one that has imported numba."""
    return sys.executable if is_everything() else python()


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """A home of this test's own, and nothing remembered."""
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(machine_code.tempfile, "gettempdir", lambda: str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir(mode=0o700)
    user_folder.cache_clear()
    yield tmp_path
    user_folder.cache_clear()


@pytest.fixture
def source(tmp_path, monkeypatch):
    """A file of a package that cannot be written to."""
    folder = tmp_path / "package"
    folder.mkdir()
    file = folder / "loops.py"
    file.write_text("")
    can = machine_code._can_make
    monkeypatch.setattr(machine_code, "_can_make", lambda place: folder not in place.parents and can(place))
    return file


def test_the_folder_of_the_user_is_no_link_that_could_be_turned_to_another(home, monkeypatch):
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(machine_code, "_user_places", lambda: iter([home / "temporary" / "ogive-link"]))
    target = home / "mine"
    target.mkdir(mode=0o700)
    (home / "temporary" / "ogive-link").symlink_to(target)
    found = user_folder()
    assert found == (target / ogive.__version__).resolve()
    assert not any(each.is_symlink() for each in (found, *found.parents))


def test_code_lies_beside_the_source_where_that_can_be_written(tmp_path):
    beside = tmp_path / "__pycache__"
    assert folders_of(tmp_path / "loops.py") == ([beside], beside)


def test_a_read_only_package_is_read_and_its_user_s_folder_written(source, home):
    folders, written = folders_of(source)
    assert folders == [source.parent / "__pycache__", written]
    assert written.parent == home / "cache" / "ogive" / ogive.__version__
    assert written.stat().st_mode & 0o077 == 0
    assert written.parent.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("mode", [0o770, 0o707, 0o1777], ids=oct)
def test_a_folder_that_others_may_write_to_is_left_alone(source, home, mode):
    (home / "cache" / "ogive" / ogive.__version__).mkdir(parents=True)
    (home / "cache" / "ogive" / ogive.__version__).chmod(mode)
    assert not is_guarded(home / "cache" / "ogive" / ogive.__version__)
    written = folders_of(source)[1]
    assert written.parents[1] == home / "temporary" / f"ogive-{os.getuid()}"


@pytest.mark.parametrize("mode", [0o770, 0o707], ids=oct)
def test_a_folder_that_others_may_replace_is_left_alone(home, mode):
    place = home / "shared" / "ogive"
    for folder in (home / "shared", place):
        folder.mkdir(mode=0o700)
    assert is_guarded(place)
    (home / "shared").chmod(mode)
    assert not is_guarded(place)
    (home / "shared").chmod(mode | 0o1000)
    assert is_guarded(place)


def test_a_folder_of_somebody_else_is_left_alone(home, monkeypatch):
    assert is_guarded(home)
    monkeypatch.setattr(os, "getuid", lambda: home.stat().st_uid + 1)
    assert is_guarded(home) == (home.stat().st_uid == 0)


def test_a_link_is_judged_by_what_it_leads_to(home):
    (home / "open").mkdir()
    (home / "open").chmod(0o777)
    (home / "link").symlink_to(home / "open")
    assert not is_guarded(home / "link")


def test_without_any_folder_nothing_is_kept(source, monkeypatch):
    monkeypatch.setattr(machine_code, "is_guarded", lambda folder: False)
    assert folders_of(source) == ([source.parent / "__pycache__"], None)


def test_a_named_folder_is_the_only_one(source, home, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(home / "named"))
    folders, written = folders_of(source)
    assert folders == [written]
    assert written.parent == home / "named"
    (home / "named").chmod(0o777)
    assert folders_of(source) == ([], None)


LOOPS = """
from ogive.core.compiling import njit
from {package}.inner import half

@njit()
def whole(x):
    return half(x) + half(x)
"""
INNER = """
from ogive.core.compiling import njit

@njit()
def half(x):
    return x / {by}
"""
CALL = "from {package}.outer import whole; print(whole(3.0))"


def call(interpreter, folder, package, before="", **variables):
    program = f"import sys\nsys.path[:0] = {[str(folder), *sys.path]!r}\n{before}\n{CALL.format(package=package)}"
    done = subprocess.run(
        [interpreter, "-c", program],
        capture_output=True, text=True, check=True, timeout=PATIENCE, env={**os.environ, **variables},
    )  # fmt: skip
    return done.stdout, done.stderr


def test_code_is_compiled_anew_when_a_loop_that_it_calls_changes(home, interpreter):
    package = home / "changing"
    package.mkdir()
    (package / "outer.py").write_text(LOOPS.format(package="changing"))
    (package / "inner.py").write_text(INNER.format(by=2))
    said = f"{compiling.MESSAGE}\n"
    assert call(interpreter, home, "changing") == ("3.0\n", said)
    assert call(interpreter, home, "changing") == ("3.0\n", "")
    (package / "inner.py").write_text(INNER.format(by="4.0"))
    assert call(interpreter, home, "changing") == ("1.5\n", said)


READ_ONLY = """
from ogive.core import machine_code
can = machine_code._can_make
machine_code._can_make = lambda folder: folder.name != "__pycache__" and can(folder)
"""


@pytest.mark.everything
def test_a_read_only_package_that_was_compiled_before_is_loaded(home, interpreter):
    package = home / "fixed"
    package.mkdir()
    (package / "outer.py").write_text(LOOPS.format(package="fixed"))
    (package / "inner.py").write_text(INNER.format(by=2))
    said = f"{compiling.MESSAGE}\n"
    assert call(interpreter, home, "fixed") == ("3.0\n", said)
    kept = {path: path.stat().st_mtime_ns for path in (package / "__pycache__").glob("*.nb?")}
    assert call(interpreter, home, "fixed", READ_ONLY) == ("3.0\n", "")
    (package / "inner.py").write_text(INNER.format(by="4.0"))
    assert call(interpreter, home, "fixed", READ_ONLY) == ("1.5\n", said)
    assert call(interpreter, home, "fixed", READ_ONLY) == ("1.5\n", "")
    assert {path: path.stat().st_mtime_ns for path in (package / "__pycache__").glob("*.nb?")} == kept


def test_what_cannot_be_kept_is_said(home, interpreter):
    package = home / "nowhere"
    package.mkdir()
    (package / "outer.py").write_text(LOOPS.format(package="nowhere"))
    (package / "inner.py").write_text(INNER.format(by=2))
    (home / "open").mkdir()
    (home / "open").chmod(0o777)
    for _ in range(2):
        assert call(interpreter, home, "nowhere", NUMBA_CACHE_DIR=str(home / "open")) == (
            "3.0\n",
            f"{compiling.NOT_KEPT}\n",
        )


def test_a_named_folder_of_another_user_is_left_alone(source, home, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(home / "named"))
    _, written = folders_of(source)
    assert written is not None
    if os.getuid():
        monkeypatch.setattr(os, "getuid", lambda: home.stat().st_uid + 1)
    else:
        os.chown(home / "named", 12345, -1)
    assert folders_of(source) == ([], None)
    if not os.getuid():  # nor is a folder in it
        os.chown(home / "named", 0, -1)
        os.chown(written, 12345, -1)
        assert folders_of(source) == ([], None)


DOUBLING = """
from ogive.core.compiling import njit

@njit()
def twice(x):
    return x + x
"""
UNCHECKED = """
from ogive.core import machine_code
machine_code.KeptCode.load_overload = lambda self, types, context: self._read[0].load_overload(types, context)
"""


def test_code_for_other_types_that_has_the_same_name_is_not_run(home, interpreter):
    """Two processes that compile at once take one name for the codes of two types, and the last one keeps its own."""
    folder = home / "cache"
    (home / "doubling.py").write_text(DOUBLING)

    def doubled(number, more=""):
        program = f"import sys\nsys.path[:0] = {[*sys.path, str(home)]!r}\n{more}\n"
        done = subprocess.run(
            [interpreter, "-c", f"{program}from doubling import twice\nprint(twice({number}))"],
            capture_output=True,
            text=True,
            env={**os.environ, "NUMBA_CACHE_DIR": str(folder)},
            check=True,
            timeout=PATIENCE,
        )
        return done.stdout.strip()

    def kept(number):
        """The index and the code that a process leaves which is alone."""
        folder.mkdir(mode=0o700)
        assert doubled(number) == str(number + number)
        files = {path.suffix: path for path in folder.rglob("*.nb?")}
        both = {suffix: path.read_bytes() for suffix, path in files.items()}
        shutil.rmtree(folder)
        return files, both

    files, of_integers = kept(2)
    same, of_numbers = kept(2.5)
    assert files == same
    for more, result in (("", "5.0"), (UNCHECKED, "4")):  # as it is, and the control
        folder.mkdir(mode=0o700)
        files[".nbi"].parent.mkdir(mode=0o700)
        files[".nbi"].write_bytes(of_numbers[".nbi"])
        files[".nbc"].write_bytes(of_integers[".nbc"])
        assert doubled(2.5, more) == result
        shutil.rmtree(folder)
