"""Published JSON Schemas, which refer to each other, to hold files against."""

import functools
import json
from importlib.resources import files

import jsonschema
import referencing
from helpers.examples import UNKEPT

from ogive.statistics.plain_json import json_schema

FOLDER = files("ogive") / "schemas"


def published():
    """Every published schema by the name of its file."""
    return {place.name: json.loads(place.read_text()) for place in FOLDER.iterdir() if place.name.endswith(".json")}


@functools.cache
def _validator(name):
    """What holds data against the schema whose files name it `name`; the schema itself is checked, too."""
    schemas = published()
    derived = [json_schema(kind.estimate) for kind in UNKEPT if kind.schema == name]
    known = [each for each in schemas.values() if each["properties"].get("schema") == {"const": name}]
    schema = next(iter([*known, *derived]))
    known = referencing.Registry().with_resources(
        (each["$id"], referencing.Resource.from_contents(each)) for each in schemas.values() if "$id" in each
    )
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema, registry=known)


def fits(data):
    """Check plain data against the schema that it names; returns it.

    Raises:
        jsonschema.ValidationError: it does not fit.
        StopIteration: no published schema is for it.
    """
    _validator(data["schema"]).validate(data)
    return data
