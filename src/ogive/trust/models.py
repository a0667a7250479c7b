"""The list of trust models: a model is one folder, or one file, and one line here.

Modules are imported when a model is used, so that one model does not load all others. The options of a model that is a
folder are in its `options.py`, which loads nothing of weight; those of a model that is one file are in that file.
"""

from __future__ import annotations

from importlib import import_module
from typing import cast

from ogive.checks import among
from ogive.trust.base import TableModel, TrustOptions

MODELS = {
    "central": "central.model:Central",
    "clear": "clear.model:Clear",
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
        TypeError: it is listed by a name that its options do not have, as where it has only those of another model.
    """
    found = cast(type[TableModel], _found(MODELS[among(name, "trust", MODELS)]))
    if found.name != name:
        raise TypeError(f"{MODELS[name]} is listed as {name}, and its options are those of {found.name}")
    return found


def options_named(name: str) -> type[TrustOptions]:
    """The options of a trust model of the list, read without the model itself where that is a folder."""
    module, _, kind = MODELS[name].partition(":")
    folder, _, _ = module.partition(".model")
    return cast(type[TrustOptions], _found(f"{module if folder == module else f'{folder}.options'}:{kind}Options"))


def _found(place: str) -> object:
    module, _, name = place.partition(":")
    return getattr(import_module(f"ogive.trust.{module}"), name)
