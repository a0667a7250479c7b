"""Random damages of files and messages, and whoever opens them: right, or with the one documented error of their kind.

A case fails that raises anything else, or more than one line, or takes longer or more memory than it may.
"""

import collections
import contextlib
import gc
import json
import random
import resource
import signal
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SECONDS = 30
MEGABYTES = 500
LONGEST_LINE = 1000
BOUNDED = sys.platform == "linux"
"""Whether memory can be bounded here."""


@dataclass(frozen=True)
class Kind:
    """Files or messages of one kind.

    Fields:
        samples: Undamaged ones.
        damage: Makes a damaged one of a sample, with a random generator.
        open: Does with it what its user does.
        errors: What may be raised.
        threads: Whether an engine's threads open it, whose stacks count as address space: then the memory that is
            used is measured instead.
    """

    samples: Sequence[Any]
    damage: Callable[[random.Random, Any], Any]
    open: Callable[[Any], object]
    errors: tuple[type[Exception], ...]
    threads: bool = False


class HangError(BaseException):
    """A case took too long; nothing that catches exceptions may catch it."""


class FoundError(AssertionError):
    """A case that neither opens right nor gives its documented error."""


def outcomes(kind: Kind, count: int, seed: int, *, seconds: float = SECONDS) -> collections.Counter[str]:
    """Damage and open so many times.

    Returns:
        How many opened right, and how many gave each error.

    Raises:
        FoundError: some did neither; the first is shown.
    """
    rng = random.Random(seed)
    for sample in {id(sample): sample for sample in kind.samples}.values():
        kind.open(sample)  # undamaged, it opens; what is compiled or loaded at first use is not counted
    gc.collect()
    found: collections.Counter[str] = collections.Counter()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with _bounded_memory() if BOUNDED and not kind.threads else contextlib.nullcontext(), _watched() as watch:
        for case in range(count):
            sample = kind.samples[case % len(kind.samples)]
            damaged = kind.damage(rng, sample)
            watch(seconds)
            try:
                kind.open(damaged)
                found["right"] += 1
            except kind.errors as problem:
                message = str(problem)
                if "\n" in message or not message or len(message) > LONGEST_LINE:
                    raise FoundError(f"case {case}: not one line: {message[:2000]!r} of {_shown(damaged)}") from problem
                found[type(problem).__name__] += 1
            except (Exception, HangError) as problem:
                raise FoundError(f"case {case}: {problem!r:.500} of {_shown(damaged)}") from problem
            finally:
                watch(0)
    if kind.threads and BOUNDED:
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
        if grown > MEGABYTES:
            raise FoundError(f"opening took {grown:.0f} MB")
    return found


def _shown(damaged: Any) -> str:
    text = repr(damaged)
    return text if len(text) < 3000 else f"{text[:3000]}... ({len(text)} characters)"


@contextlib.contextmanager
def _bounded_memory():
    used = int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[0]) * resource.getpagesize()
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (used + MEGABYTES * 2**20, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


@contextlib.contextmanager
def _watched():
    def hang(*_: object) -> None:
        raise HangError("took too long")

    def watch(seconds: float) -> None:
        """Interrupt after so many seconds of processor time, or where it waits, after a hundred times as many."""
        signal.setitimer(signal.ITIMER_PROF, seconds)
        signal.setitimer(signal.ITIMER_REAL, 100 * seconds)

    before = {number: signal.signal(number, hang) for number in (signal.SIGALRM, signal.SIGPROF)}
    try:
        yield watch
    finally:
        watch(0)
        for number, handler in before.items():
            signal.signal(number, handler)


# --- damages

EXTREME = [bytes(width) for width in (1, 2, 4, 8)]
EXTREME += [b"\xff" * width for width in (1, 2, 4, 8)]
EXTREME += [b"\xff" * (width - 1) + b"\x7f" for width in (2, 4, 8)]
EXTREME += [bytes(width - 1) + b"\x80" for width in (2, 4, 8)]


def spoil_bytes(rng: random.Random, data: bytes) -> bytes:
    """Flip, overwrite, cut, insert, remove or repeat some bytes; the front, where headers are, more often."""
    content = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 4, 16))):
        if not content:
            break
        end = len(content) if rng.random() < 0.5 else min(len(content), 160)
        place = rng.randrange(end)
        match rng.randrange(8):
            case 0 | 1 | 2:
                content[place] ^= 1 << rng.randrange(8)
            case 3:
                content[place] = rng.randrange(256)
            case 4 | 5:
                extreme = rng.choice(EXTREME)
                content[place : place + len(extreme)] = extreme
            case 6:
                content[place:place] = rng.randbytes(rng.choice((1, 8, 100)))
            case 7:
                del content[place : place + rng.choice((1, 8, 100))]
    if rng.random() < 0.1:
        del content[rng.randrange(len(content) + 1) :]
    return bytes(content)


TEXTS = [
    "",
    " ",
    "x",
    "1e9_999_999_999",
    "1e999999999",
    "9" * 5000,
    "1/" + "3" * 3990,
    "\ud800",
    "\u202e",
    "a\nb",
    "\x00",
    "NaN",
]
NUMBERS = [0, 1, -1, 2, 255, 2**31, 2**53, 2**62, 2**63, 2**64, 10**30, 10**400, -(10**400)]
FLOATS = [0.5, -0.0, 1e300, -1e300, 5e-324, float("nan"), float("inf"), float("-inf")]
WHOLES = [None, True, False, [], {}, [[]], {"": None}, [None] * 100, {"type": "PureDP"}]


def spoil_value(rng: random.Random, value: Any) -> Any:
    """Something else in place of plain data, of another kind or of the same."""
    choice = rng.randrange(8)
    if choice == 0:
        return rng.choice(WHOLES)
    if choice == 1:
        return rng.choice(TEXTS)
    if choice == 2:
        return rng.choice(NUMBERS)
    if choice == 3:
        return rng.choice(FLOATS)
    if choice == 4:
        nested: Any = value
        for _ in range(rng.choice((1, 50, 200))):
            nested = [nested]
        return nested
    match value:
        case bool():
            return not value
        case int():
            return value + rng.choice((-1, 1, 2, 1000, -value * 2))
        case float():
            return value * rng.choice((-1, 1.0001, 1e-9, 1e9))
        case str():
            return value + rng.choice(("x", "0", "/7")) if rng.random() < 0.5 else value[:-1]
        case list():
            return rng.choice((value * 2, value[:-1], value[::-1], [*value, None]))
        case dict():
            return {key: value[key] for key in list(value)[1:]}
    return rng.choice(NUMBERS)


def spoil_plain(rng: random.Random, data: Any) -> Any:
    """Plain data of which one or two fields, anywhere, are changed, removed or added."""
    copied = json.loads(json.dumps(data))
    for _ in range(rng.choice((1, 1, 2))):
        within = [copied]
        # down from the top, so that fields of the whole are as likely as the many of a long list
        while True:
            node = within[-1]
            keys = list(node) if isinstance(node, dict) else list(range(len(node))) if isinstance(node, list) else []
            if not keys:
                break
            key = rng.choice(keys)
            child = node[key]
            if isinstance(child, dict | list) and child and rng.random() < 0.7:
                within.append(child)
                continue
            if rng.random() < 0.15:
                del node[key]
            elif isinstance(node, dict) and rng.random() < 0.05:
                node["added"] = child
            else:
                node[key] = spoil_value(rng, child)
            break
    return copied


def spoil_json(rng: random.Random, text: str) -> str:
    """JSON of which fields are changed, as text that Python writes; now and then bytes of it instead."""
    kind = rng.random()
    if kind < 0.1:
        return spoil_bytes(rng, text.encode()).decode("latin1")
    if kind < 0.13:
        return rng.choice(("[" * 100_000, '{"a":' * 5000 + "1" + "}" * 5000, "1" * 5000, "", "null", '"x"', "[]", "{}"))
    return json.dumps(spoil_plain(rng, json.loads(text)))
