"""What a machine has decides whether a test runs, never whether it passes, and so does not how fast it is."""

import ast
from functools import cache
from pathlib import Path

from helpers.sources import nodes, parsed
from helpers.waiting import PATIENCE

ROOT = Path(__file__).parents[2]
FOLDERS = (ROOT / "tests", ROOT / "papers" / "tests")
FACTS = {
    "find_spec", "which", "getuid", "geteuid", "cpu_count", "sched_getaffinity", "getlocale", "gethostname",
    "get_terminal_size", "home", "expanduser", "findSystemFonts", "fonts",
}  # fmt: skip
"""Functions that return what differs between machines."""
KNOWN = {
    ("cli/test_books.py", "getuid"): "root becomes another user first, so that both run the same test",
    ("unit/ledger/test_problems.py", "getuid"): "root becomes another user first, so that both run the same test",
    ("unit/test_machine_code.py", "getuid"): "a folder's name holds the number of its user",
}


def _skips(node):
    """Whether a condition, a mark or a value leads to a skip."""
    if isinstance(node, ast.If):
        return any(isinstance(each, ast.Attribute) and each.attr == "skip" for each in nodes(node))
    return isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "skipif"


def files_of(pattern):
    """Files of all tests, with their names within their folder."""
    return [(path.relative_to(folder).as_posix(), path) for folder in FOLDERS for path in sorted(folder.rglob(pattern))]


@cache
def read(path):
    """What the tests below ask of a file: its look-ups and its short waits."""
    tree = parsed(path.read_text("utf-8"))
    below = nodes(tree)
    return looked_up(tree, below), short_waits(below)


def looked_up(tree, below):
    """Names of `FACTS` that a module calls where no skip depends on it."""
    excused = {id(each) for node in below if _skips(node) for each in nodes(getattr(node, "test", node))}
    skipping = {node.id for node in below if id(node) in excused and isinstance(node, ast.Name)}
    for node in tree.body:  # NODE = shutil.which("node"), on which a skip depends
        if isinstance(node, ast.Assign) and skipping & {getattr(target, "id", "") for target in node.targets}:
            excused |= {id(each) for each in nodes(node)}
    calls = [node for node in below if isinstance(node, ast.Call) and id(node) not in excused]
    return {name for node in calls if (name := getattr(node.func, "attr", getattr(node.func, "id", ""))) in FACTS}


def test_the_machine_is_looked_up_only_to_skip_a_test():
    files = {name: path for name, path in files_of("test_*.py") if path != Path(__file__)}
    found = {(file, name) for file, path in files.items() for name in read(path)[0]}
    assert found == set(KNOWN)


def found_in(source):
    tree = parsed(source)
    return looked_up(tree, nodes(tree))


def test_a_result_that_depends_on_the_machine_is_noticed():
    assert found_in("def test_it():\n    assert len(fonts(4)) == 4\n") == {"fonts"}
    assert found_in("def test_it():\n    n = 1 if find_spec('torch') else 2\n    assert n\n") == {"find_spec"}
    assert found_in("HAS = shutil.which('x')\ndef test_it():\n    assert HAS\n") == {"which"}
    assert found_in("HAS = which('x')\n@mark.skipif(HAS is None, reason='')\ndef test_it():\n    pass\n") == set()
    assert found_in("def test_it():\n    if os.geteuid() == 0:\n        pytest.skip('root')\n") == set()


WAITS = {"run", "communicate", "wait", "check_output", "check_call", "result", "join", "get"}
"""Calls that end a test which waits too long for a process, a thread or a result."""


def short_waits(below):
    """Lines that wait for so many seconds, and not for `helpers.waiting.PATIENCE`."""
    found = []
    for node in below:
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") in WAITS:
            given = [each.value for each in node.keywords if each.arg == "timeout"]
            given += node.args[:1] if node.func.attr == "result" else []
            found += [
                node.lineno
                for each in given
                if isinstance(each, ast.Constant) and isinstance(each.value, int | float) and each.value < PATIENCE
            ]
    return found


def test_no_test_waits_for_a_process_less_patiently_than_others():
    assert {name: lines for name, path in files_of("*.py") if (lines := read(path)[1])} == {}


def test_a_short_wait_is_noticed():
    assert short_waits(
        nodes(parsed("subprocess.run(words, timeout=30)\nfuture.result(10)\nchild.wait(timeout=1.5)"))
    ) == [1, 2, 3]
    assert (
        short_waits(nodes(parsed("subprocess.run(words, timeout=PATIENCE)\nfuture.result()\n', '.join(words)"))) == []
    )
