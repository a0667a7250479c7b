"""What checks of arguments say: their messages are written in `ogive.core.checks`, and name what callers check."""

import ast


def checked(nodes):
    """The arguments of a file that name what one of `ogive.core.checks` checks, among the nodes of the file."""
    known = {
        alias.asname or alias.name
        for node in nodes
        if isinstance(node, ast.ImportFrom) and node.module == "ogive.core.checks"
        for alias in node.names
        # others refuse nothing, or name nothing
        if alias.name.islower() and not alias.name.startswith(("is_", "refuse_"))
    }
    for node in nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in known:
            named = [*node.args[1:2], *(word.value for word in node.keywords if word.arg == "name")]
            yield from named


def checked_names(nodes):
    """The parameters that a file of such nodes checks by `ogive.core.checks`, where it writes their names in full."""
    names = [each.value for each in checked(nodes) if isinstance(each, ast.Constant)]
    return [name for name in names if name.isidentifier()]
