"""What checks of arguments say: their messages are written in `ogive.core.checks`, and name what callers check."""

import ast
import inspect

from ogive.core import checks


def names_what_it_checks(function):
    """Whether a function of `ogive.core.checks` refuses an argument by its name; others refuse nothing."""
    found = getattr(checks, function)
    return inspect.isfunction(found) and "name" in inspect.signature(found).parameters


def checked(nodes):
    """The arguments of a file that name what one of `ogive.core.checks` checks, among the nodes of the file."""
    known = {
        alias.asname or alias.name
        for node in nodes
        if isinstance(node, ast.ImportFrom) and node.module == "ogive.core.checks"
        for alias in node.names
        if names_what_it_checks(alias.name)
    }
    for node in nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in known:
            named = [*node.args[1:2], *(word.value for word in node.keywords if word.arg == "name")]
            yield from named


def checked_names(nodes):
    """The parameters that a file of such nodes checks by `ogive.core.checks`, where it writes their names in full."""
    names = [each.value for each in checked(nodes) if isinstance(each, ast.Constant)]
    return [name for name in names if name.isidentifier()]
