"""The list of trust models: a model is one folder, or one file, and one line here.

Modules are imported when a model is used, so that one model does not load all others.
"""

from __future__ import annotations

from importlib import import_module
from typing import cast

from ogive.errors import ParameterError, quoted
from ogive.trust.base import TableModel

MODELS = {
    "central": "central:Central",
    "clear": "clear:Clear",
    "local": "local.model:Local",
    "pairs": "pairs.model:Pairs",
    "secagg": "secagg.model:SecAgg",
    "servers": "servers.model:Servers",
}
"""Where the class of each model is, by the model's name."""


def model_named(name: str) -> type[TableModel]:
    """The trust model of a name.

    Raises:
        ParameterError: there is none.
    """
    if name not in MODELS:
        raise ParameterError(f"`trust` must be one of {', '.join(MODELS)}, got {quoted(name)}")
    module, _, kind = MODELS[name].partition(":")
    return cast(type[TableModel], getattr(import_module(f"ogive.trust.{module}"), kind))
