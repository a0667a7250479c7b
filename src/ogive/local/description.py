"""What a collection of reports asks, as plain JSON that every participant can read and refuse, and what answers it.

A description fixes all that a report depends on besides the owner's value and random bits. Its digest names it: the
first four bytes stand at the front of every report, so that reports to another description that come by mistake are
told apart. Somebody who searches for a description with the same four bytes finds one.

A `Randomizer` runs on an owner's device: a description in, one report of a few bytes out. It needs numpy alone.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import math
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from ogive.columns import Binning, Column, Domain, Label, Listed, Membership, Missing, may_drop
from ogive.core.arrays import Float64, Int64, UInt8, UInt32
from ogive.core.checks import any_whole, array_of, refuse_masked, whole
from ogive.errors import BudgetError, OgiveError, ParameterError, PeerError, plain, quoted
from ogive.local.base import HEADER_BYTES, TAG_BYTES, WORD, Oracle, RandomWords, encode
from ogive.local.oracles import HaarOracle, PublicClasses, RandomizedResponse, UnaryOracle, oracle_from_dict
from ogive.local.tree import TreeOracle
from ogive.local.values import check_rounding, rounded, row_of, rows_of
from ogive.privacy import ApproxDP, Privacy, PureDP, number_text, privacy_from_dict

# --- What a collection asks

SCHEMA = "ogive.local/1"
MAX_PARTICIPANTS = 1 << 32
MAX_BYTES = 1 << 26
MAX_TITLE = 400

_ID = re.compile(r"[0-9a-f]{32}")
_EXACT = re.compile(r"[0-9]{1,300}(/[0-9]{1,300})?")
_FIELDS = ("id", "title", "participants", "privacy", "domain", "rounding", "oracle", "statistic")


@dataclass(frozen=True, kw_only=True)
class Description:
    """Description of a collection of reports: the columns, the randomization and its privacy guarantee.

    Fields:
        domain: The columns of the question and their possible values; public.
        oracle: The randomizer of the symbol of a participant's values.
        privacy: The guarantee for each participant, whatever everybody else does.
        participants: Largest number of participants; they have the numbers 0..participants-1.
        rounding: Rounding of numbers to symbols, "simple" or "randomized".
        statistic: The statistic, as plain data; owners ignore it. None if it is left open.
        title: A one-line title for readers, without effect.
        id: 32 random hexadecimal digits, so that no two collections have the same digest.

    Raises:
        ParameterError: a field is out of range, or fields are incompatible: the oracle and the domain differ in the
            number of symbols, the oracle would send another column than the last one unprotected, or it costs more
            than the guarantee.
    """

    schema: ClassVar[str] = SCHEMA

    domain: Domain
    oracle: Oracle
    privacy: PureDP | ApproxDP
    participants: int
    rounding: str = "simple"
    statistic: Mapping[str, Any] | None = None
    title: str = ""
    id: str = field(default_factory=lambda: os.urandom(16).hex())

    def __post_init__(self) -> None:
        if not isinstance(self.domain, Domain):
            raise ParameterError(f"`domain` must be a Domain, got {type(self.domain).__name__}")
        if not isinstance(self.oracle, Oracle):
            raise ParameterError(f"`oracle` must be one of ogive.local, got {type(self.oracle).__name__}")
        whole(self.participants, "participants", 1, MAX_PARTICIPANTS)
        if not isinstance(self.title, str) or len(self.title) > MAX_TITLE or not self.title.isprintable():
            raise ParameterError(f"`title` must be one line of at most {MAX_TITLE} printable characters")
        if not isinstance(self.id, str) or not _ID.fullmatch(self.id):
            raise ParameterError("`id` must be 32 lower-case hexadecimal digits")
        self._check_domain()
        check_rounding(self.rounding, self.domain)
        if not isinstance(self.privacy, PureDP | ApproxDP):
            raise ParameterError(
                "`privacy` must be `PureDP` or `ApproxDP`: a single report has no other kind of guarantee"
            )
        if not within(self.oracle.loss, self.privacy):
            raise ParameterError(f"the oracle costs {self.oracle.loss}, more than the stated guarantee {self.privacy}")
        if self.statistic is not None:
            _check_plain(self.statistic)

    def _check_domain(self) -> None:
        self.domain.check_size()
        if self.oracle.size != self.domain.size:
            raise ParameterError(
                f"the oracle has {self.oracle.size} symbols, but the columns have {self.domain.size} combinations"
            )
        *others, last = self.domain.columns
        if isinstance(self.oracle, PublicClasses) and (
            not others or isinstance(last, Binning) or last.size != self.oracle.classes
        ):
            raise ParameterError(
                f"the oracle sends {self.oracle.classes} classes as they are, so the last of several columns must be "
                "a label or categories, as many as there are classes"
            )
        for column in self.domain.columns:
            if may_drop(column):
                dropping, instead = "`missing='drop'`", "`missing='low'` or `'high'`"
                if isinstance(column, Listed):
                    what = "missing" if column.missing == "drop" else "other"
                    dropping, instead = f"`{what}='drop'`", f"`{what}='count'`"
                raise ParameterError(f"{dropping} is impossible for reports, whose number is public; use {instead}")

    @property
    def public_columns(self) -> tuple[str, ...]:
        """Names of the columns that a report contains unprotected."""
        return (self.domain.columns[-1].column,) if isinstance(self.oracle, PublicClasses) else ()

    @property
    def report_bytes(self) -> int:
        """Length of every report."""
        return HEADER_BYTES + self.oracle.payload_bytes

    @cached_property
    def canonical(self) -> bytes:
        """The one JSON text of this description that `digest` is of."""
        return json.dumps(self.to_dict(), sort_keys=True, separators=(",", ":"), allow_nan=False).encode()

    @cached_property
    def digest(self) -> bytes:
        """SHA-256 of the canonical JSON."""
        return hashlib.sha256(self.canonical).digest()

    @property
    def tag(self) -> bytes:
        """First 4 bytes of the digest, with which every report begins."""
        return self.digest[:TAG_BYTES]

    @property
    def words(self) -> str:
        """The question and what a report reveals, as text made from the fields only."""
        return explanation(self)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, exact."""
        return {
            "schema": SCHEMA,
            "id": self.id,
            "title": self.title,
            "participants": self.participants,
            "privacy": self.privacy.to_dict(),
            "domain": self.domain.to_dict(),
            "rounding": self.rounding,
            "oracle": self.oracle.to_dict(),
            "statistic": None if self.statistic is None else dict(self.statistic),
        }

    def to_json(self) -> str:
        """The description as text, for distribution."""
        return json.dumps(self.to_dict(), indent=1, allow_nan=False)

    @staticmethod
    def from_dict(data: Any) -> Description:
        """Rebuild from `to_dict`; the data need not be trusted.

        Raises:
            PeerError: a field is missing or out of range, or fields are incompatible.
        """
        named = data.get("schema") if isinstance(data, Mapping) else None
        if named != SCHEMA:
            got = f", got schema {quoted(named[:40])}" if isinstance(named, str) else ""
            raise PeerError(f"this is not a description of a collection: expected an object of schema {SCHEMA}{got}")
        for name in _FIELDS:
            if name not in data:
                raise PeerError(f"the description lacks the field {quoted(name)}")
        unknown = sorted(str(name)[:40] for name in data if name not in ("schema", *_FIELDS))
        if unknown:
            raise PeerError(f"the description has a field {quoted(unknown[0])} that this version does not know")
        try:
            return Description(
                domain=Domain.from_dict(data["domain"]),
                oracle=oracle_from_dict(data["oracle"]),
                privacy=_privacy(data["privacy"]),
                participants=data["participants"],
                rounding=data["rounding"],
                statistic=data["statistic"],
                title=data["title"],
                id=data["id"],
            )
        except OgiveError as problem:
            raise PeerError(f"the description cannot be used: {plain(problem)}") from None
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
            raise PeerError("the description cannot be used: a field is of the wrong kind") from None

    @staticmethod
    def from_json(source: str | bytes | Path) -> Description:
        """Read a description from text or, at a Path, from a file; any bytes give a valid one or an error.

        Raises:
            PeerError: the text is not JSON, or not a valid description.
            ParameterError: the file cannot be read.
        """
        text = _read(source) if isinstance(source, Path) else source
        if len(text) > MAX_BYTES:
            raise PeerError(f"a description has at most {MAX_BYTES} bytes")
        try:
            data = json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=_object)
        except RecursionError:
            raise PeerError("this is not a description of a collection: it is nested too deeply") from None
        except (ValueError, TypeError):  # of bytes that are not text, too
            raise PeerError("this is not a description of a collection: it is not JSON") from None
        return Description.from_dict(data)

    @staticmethod
    def of(source: Any) -> Description:
        """A description given as itself, as plain data, as JSON text or as the Path of a file.

        Raises:
            PeerError, ParameterError: the value is none of these.
        """
        match source:
            case Description():
                return source
            case str() | bytes() | Path():
                return Description.from_json(source)
        return Description.from_dict(source)


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(MAX_BYTES + 1)
    except OSError as problem:
        raise ParameterError(f"cannot read {plain(path)}: {problem.strerror}") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON in which nothing stands twice, so that all readers read the same."""
    results: dict[str, Any] = {}
    for name, value in pairs:
        if name in results:
            raise PeerError(f"the description names {quoted(name[:40])} twice in one object")
        results[name] = value
    return results


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a number in JSON")


def _check_plain(statistic: Any) -> None:
    try:
        if isinstance(statistic, Mapping) and json.loads(json.dumps(dict(statistic), allow_nan=False)) == statistic:
            return
    except (TypeError, ValueError, RecursionError):
        pass
    raise ParameterError("`statistic` must be an object of plain data, as JSON holds it")


def _privacy(data: Any) -> PureDP | ApproxDP:
    if not isinstance(data, dict) or not all(isinstance(value, str) for value in data.values()):
        raise PeerError("the privacy must be an object of texts")
    numbers = {name: value for name, value in data.items() if name != "type"}
    if not all(_EXACT.fullmatch(value) for value in numbers.values()):
        raise PeerError("the privacy must hold exact numbers such as '1/10'")
    result = privacy_from_dict(data)
    if not isinstance(result, PureDP | ApproxDP) or result.to_dict() != data:
        raise PeerError("the privacy must be PureDP or ApproxDP in lowest terms")
    return result


def within(loss: PureDP | ApproxDP, privacy: PureDP | ApproxDP) -> bool:
    """Whether a loss is at most what was promised."""
    slack = 0 if isinstance(loss, PureDP) else loss.delta
    most = 0 if isinstance(privacy, PureDP) else privacy.delta
    return loss.epsilon <= privacy.epsilon and slack <= most


# --- The explanation for participants: the question, the content of a report, what it reveals, and its chances
#
# It is derived from the fields that determine a report. Text from others, such as titles, names of columns and
# categories, is quoted and stripped of terminal control characters.

_SHOWN = 12
_LARGEST_SHOWN = 20.0
_AS_GOOD_AS_SURE = 0.99


def explanation(description: Description) -> str:
    """The text that a participant should read before answering."""
    columns = description.domain.columns
    lines = [
        f"Collection {_quoted(description.title)}, {description.id}"
        if description.title
        else f"Collection {description.id}",
        f"{description.participants} participants are asked to report:",
        *(f"  - {question_of(column, description.rounding)}" for column in columns),
        *purpose(description.statistic),
        "",
        "Content of the report",
        *sent(description),
        "",
        "What the report reveals",
        *revealed(description),
        "",
        "What is not protected",
        "  Your participation, your number, and the place and time of sending. Answer once: a second report costs as",
        "  much privacy as the first.",
    ]
    if any(map(refuses, columns)):
        lines += [
            "  If a value is not accepted, no report is sent, and the collector can see that your report is missing."
        ]
    return "\n".join(lines)


def purpose(statistic: Mapping[str, Any] | None) -> list[str]:
    """What the collector says the reports are for."""
    if statistic is None:
        return ["The collector states no purpose."]
    kernel = statistic.get("kernel")
    named = (statistic.get("name"), kernel.get("name") if isinstance(kernel, Mapping) else kernel)
    stated = ", ".join(_quoted(name) for name in named if isinstance(name, str)) or "an unnamed statistic"
    return [f"The collector states the purpose {stated}; nothing prevents other uses of the reports."]


def sent(description: Description) -> list[str]:
    """What a report holds, as lines of text."""
    oracle = description.oracle
    inner = oracle.inner if isinstance(oracle, PublicClasses) else oracle
    first = f"  One report of {description.report_bytes} bytes: the mark of the collection, your number,"
    if public := description.public_columns:
        first += f" {_quoted(public[0])} unprotected,"
        drawn = "  and random bytes, whose probabilities depend on your other answers"
    else:
        drawn = "  and random bytes, whose probabilities depend on your answer"
    return [first, drawn, f"  (method {inner.name}, {inner.size} possible answers)."]


def revealed(description: Description) -> list[str]:
    """What a reader of a report learns at most, as lines of text."""
    privacy, public = description.privacy, description.public_columns
    epsilon = float(privacy.epsilon)
    often = f"{math.exp(epsilon):.3g}" if epsilon <= _LARGEST_SHOWN else f"e^{number_text(privacy.epsilon)}"
    rest = "your other answers" if public else "your answer"
    lines = [f"  {privacy}: no report is more than {often} times as likely for {rest} as for any other."]
    sure = 1 / (1 + math.exp(-epsilon))
    if sure < _AS_GOOD_AS_SURE:
        lines.append(
            f"  A reader who held two answers equally likely can be at most {100 * sure:.3g} % sure of one of them "
            "afterwards."
        )
    else:
        lines.append(
            "  This is almost no protection: a reader of the report may be practically certain of your answer."
        )
    if isinstance(privacy, ApproxDP):
        lines.append(f"  This guarantee may fail with probability {number_text(privacy.delta)}.")
    lines += [f"  The column {_quoted(name)} is public here: it is sent unprotected." for name in public]
    return lines


def refuses(column: Column) -> bool:
    """Whether a device refuses some values of the column."""
    if isinstance(column, Membership):
        return column.missing == "refuse" or column.others is not None
    if isinstance(column, Listed):
        return "refuse" in (column.other, column.missing)
    return not isinstance(column, Binning) or column.outside != "clip" or "refuse" in (column.missing, column.fractions)


def question_of(column: Column, rounding: str) -> str:
    """The question about one column."""
    name = _quoted(column.column)
    if isinstance(column, Binning):
        grid = column.grid
        outsides = {"clip": "counted at the nearer bound", "refuse": "not accepted"}
        reached = column.reached
        end = grid.thresholds[reached - 1]
        outsides["censor"] = "counted as above the upper bound, or not accepted if they are below the lower one"
        policies = {"refuse": "not accepted", "low": "counted at the lower bound", "high": "counted at the upper bound"}
        missing = policies.get(str(column.missing)) or f"counted as {_shown(column.missing)}"
        if reached < grid.bins and (column.substitute or 0) > end:
            missing = "counted as above the upper bound"
        whole = ", fractions are not accepted" if column.fractions == "refuse" and grid.unit == "number" else ""
        step = "rounded at random" if rounding == "randomized" else f"in {reached} bins"
        step += f" and {grid.bins - reached} for values above" if reached < grid.bins else ""
        return (
            f"{name}, from {grid.label(grid.low)} to {grid.label(end)}, {step}; "
            f"values outside are {outsides[column.outside]}, a missing value is {missing}{whole}"
        )
    if isinstance(column, Label):
        return f"{name}, whether it is {_listed(column.positive)} or not"
    if isinstance(column, Membership):
        treated = "not accepted" if column.missing == "refuse" else "counted as not"
        what = "there is a value" if column.values is None else f"it is {_listed(column.values)}"
        rest = "not" if column.others is None else f"{_listed(column.others)} (no other value is accepted)"
        return f"{name}, whether {what} or {rest}; a missing value is {treated}"
    if isinstance(column, Listed):
        policies = {"count": "counted as such", "refuse": "not accepted"}
        return (
            f"{name}, which of {_listed(column.values)} it is; any other value is {policies[column.other]}, "
            f"a missing value is {policies[column.missing]}"
        )
    return f"{name}, one of {_listed(column.values)}"


def _shown(value: Missing) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _listed(values: tuple[object, ...]) -> str:
    shown = ", ".join(_quoted(value) if isinstance(value, str) else str(value) for value in values[:_SHOWN])
    return shown if len(values) <= _SHOWN else f"{shown} and {len(values) - _SHOWN} more"


def _quoted(text: object) -> str:
    return repr(str(text)[:80])


# --- The chances of what an owner's device sends, exact, as sentences for the owner


def chances(oracle: Oracle) -> list[str]:
    """What a report says, with the chances with which it is true, a sentence each."""
    if isinstance(oracle, PublicClasses):
        return [
            "The class is sent as it is. The rest of the report is about the other answers.",
            *chances(oracle.inner),
        ]
    if isinstance(oracle, RandomizedResponse):
        return [
            f"The report names one of {oracle.size} possible answers. With probability {exact(oracle.keep)} it is "
            "yours; otherwise it is drawn uniformly from all of them, yours included."
        ]
    if isinstance(oracle, UnaryOracle):
        return [f"The report has a yes or no for each of {oracle.size} possible answers. {_bits(oracle.chance)}"]
    if isinstance(oracle, HaarOracle):
        return [
            f"Your number decides which of {oracle.levels} questions you are asked, and a random pattern is drawn that "
            f"splits the possible answers in two. {_side(oracle.chance)}"
        ]
    assert isinstance(oracle, TreeOracle), "there are no others"
    return _tree(oracle)


def _tree(oracle: TreeOracle) -> list[str]:
    groups = " or ".join(str(nodes) for nodes in oracle.layout.nodes)
    if oracle.levels_of is None:
        first = f"The report answers {oracle.levels} questions, each about groups of possible answers: {groups} groups."
    elif oracle.levels == 1:
        first = f"You are asked in which of {groups} groups of possible answers yours is."
    else:
        first = (
            f"Your number decides which of {oracle.levels} questions you are asked: in which of {groups} groups of "
            "possible answers yours is."
        )
    lines = [first]
    if any(oracle.layout.unary):
        lines.append(f"The report has a yes or no for each group. {_bits(oracle.chance).replace('answer', 'group')}")
    if not all(oracle.layout.unary):
        more = "Where there are more than 1024 groups, a" if any(oracle.layout.unary) else "A"
        lines.append(f"{more} random pattern is drawn that splits the groups in two. {_side(oracle.chance)}")
    return lines


def _bits(chance: Fraction) -> str:
    return (
        "The one for your answer is yes with probability exactly 1/2, whatever your answer is; each other one is yes "
        f"with probability {exact(chance)}."
    )


def _side(chance: Fraction) -> str:
    return (
        f"The report says on which side yours is. That is true with probability {exact(1 - chance)} and false with "
        f"probability {exact(chance)}."
    )


def exact(chance: Fraction) -> str:
    """A chance to four digits, and exactly."""
    return f"{float(chance):.4f} (exactly {int(chance * WORD)} / 2^64)"


class OwnerSource:
    """Random words from the operating system, without state between calls."""

    def words(self, count: int) -> UInt32:
        """The next `count` uniform 32-bit words, shape (count,)."""
        return np.frombuffer(os.urandom(4 * count), np.uint32)


SECRET_BYTES = 32
_BLOCK_WORDS = 8
_NUMBER = "a participant's number"


class Randomizer:
    """Turns an owner's record into the single report that may leave the device.

    A randomizer has no memory between calls. Send one report only: each is drawn anew, so two reports cost twice. A
    device that may be asked again needs a `secret`. Its report is then always the same, and repeated questions reveal
    nothing new. However, if the rounded record changes, a different report for the same number reveals the change with
    certainty.

    Args:
        description: A `Description`, or its plain data, JSON text, or the Path of its file.
        secret: 32 random bytes that stay on the device, `Randomizer.new_secret()`. The report is then a function of
            the secret, the description, the number and the rounded record.
        source: Source of random bits; by default the operating system. Tests use a replayable source. Not together
            with a secret.
        limit: Largest cost of a report, `PureDP` or `ApproxDP`, chosen by the device and not by the collector.
        public: Columns that a report may contain unprotected. None accepts those of the description if there is no
            limit, and no columns if there is one.

    Raises:
        PeerError: the description is malformed or inconsistent.
        BudgetError: a report would cost more than the limit, or contain a column unprotected that `public` does not
            name.
        ParameterError: the secret does not have 32 bytes, or a source was given beside it.

    Privacy: `description.privacy` for every report, against everybody who sees it, whatever all others do; no
        protection for `description.public_columns`.
    """

    def __init__(
        self, description: Any, *,
        secret: bytes | None = None, source: RandomWords | None = None,
        limit: Privacy | None = None, public: Iterable[str] | None = None,
    ) -> None:  # fmt: skip
        self.description = Description.of(description)
        if limit is not None or public is not None:
            _check_allowed(self.description, limit, public)
        if secret is not None:
            if not isinstance(secret, bytes) or len(secret) != SECRET_BYTES:
                raise ParameterError(f"`secret` must be {SECRET_BYTES} random bytes, such as Randomizer.new_secret()")
            if source is not None:
                raise ParameterError("give either a secret or a source of random bits, not both")
        self._secret = secret
        self._source = source

    @staticmethod
    def new_secret() -> bytes:
        """32 random bytes for the device to store."""
        return os.urandom(SECRET_BYTES)

    def report(self, record: Any, *, number: int) -> bytes:
        """The report of one participant.

        Args:
            record: A mapping from columns to values, or the value if there is one column. Numbers, ISO dates, dates
                and times, categories.
            number: Public number of the participant, in 0..participants-1.

        Raises:
            ParameterError: the number is out of range.
            DataError: a value is missing or does not fit its column; the message never quotes it.
        """
        numbers = self._numbers([number])
        return self._reports(row_of(self.description.domain, record), numbers).tobytes()

    def reports(self, table: Any, *, first: int = 0, numbers: Any = None) -> bytes:
        """The reports of many participants, one for each row.

        Args:
            table: A mapping from columns to arrays, a data frame, or an array if there is one column.
            first: Number of the first row's participant; the others follow.
            numbers: Numbers of all participants, instead of `first`.

        Raises:
            ParameterError: a number is out of range, or there is not one for every row.
            DataError: a value is missing or does not fit its column; the message never quotes it.
        """
        return self.report_rows(rows_of(self.description.domain, table), first=first, numbers=numbers)

    def report_rows(self, rows: Float64, *, first: int = 0, numbers: Any = None) -> bytes:
        """As `reports`, for rows of grid numbers and category indices, shape (n, columns)."""
        refuse_masked(rows)
        if numbers is None:
            start = any_whole(first, _NUMBER)
            end = start + len(rows)
            if start < 0 or end > self.description.participants:
                raise ParameterError(self._range(f"{len(rows)} rows from number {start} on"))
            return self._reports(rows, np.arange(start, end, dtype=np.int64)).tobytes()
        result = self._numbers(numbers)
        if len(result) != len(rows):
            raise ParameterError(f"every row needs a number, got {len(rows)} rows and {len(result)} numbers")
        if len(np.unique(result)) < len(result):
            raise ParameterError("two rows have the same number; every participant sends one report")
        return self._reports(rows, result).tobytes()

    def _reports(self, rows: Float64, numbers: Int64) -> UInt8:
        domain, oracle, rounding = self.description.domain, self.description.oracle, self.description.rounding
        if self._secret is None:
            source = self._source if self._source is not None else OwnerSource()
            symbols = rounded(domain, rows, rounding, source=source)
            return encode(self.description.tag, numbers, oracle.randomize(symbols, numbers, source=source))
        payloads = np.empty((len(rows), oracle.payload_bytes), dtype=np.uint8)
        for place, number in enumerate(numbers.tolist()):
            part = slice(place, place + 1)
            # a value that is rounded to another symbol gets bits of its own: with the old ones, two reports
            # would tell more than twice what one does
            row = rows[part].astype("<f8").tobytes() if rounding == "randomized" else b""
            symbol = rounded(domain, rows[part], rounding, source=self._stream(b"round", number, row))
            bits = self._stream(b"report", number, symbol.astype("<i8").tobytes())
            payloads[part] = oracle.randomize(symbol, numbers[part], source=bits)
        return encode(self.description.tag, numbers, payloads)

    def _stream(self, purpose: bytes, number: int, value: bytes) -> RandomWords:
        assert self._secret is not None
        context = self.description.digest + number.to_bytes(8, "little") + value
        return _HashStream(hmac.digest(self._secret, b"ogive local " + purpose + b"\n" + context, "sha256"))

    def _numbers(self, numbers: Any) -> Int64:
        if isinstance(numbers, list | tuple):
            result = np.empty(len(numbers), dtype=object)
            result[:] = [any_whole(number, _NUMBER) for number in numbers]
        else:
            result = array_of(numbers)
            if result.ndim != 1 or result.dtype.kind not in "iu":
                raise ParameterError("numbers of participants must be a list or an array of whole numbers")
        if len(result) and not (result.min() >= 0 and result.max() < self.description.participants):
            raise ParameterError(self._range("a number outside"))
        return result.astype(np.int64)

    def _range(self, got: str) -> str:
        return f"participants have the numbers 0 to {self.description.participants - 1}, got {got}"


class _HashStream:
    """HMAC-SHA256 of a counter: a stream of words that only who has the key can tell from random ones."""

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._counter = 0

    def words(self, count: int) -> UInt32:
        """The next words; a new block for every call."""
        blocks = -(-count // _BLOCK_WORDS)
        places = range(self._counter, self._counter + blocks)
        self._counter += blocks
        text = b"".join(hmac.digest(self._key, place.to_bytes(8, "little"), hashlib.sha256) for place in places)
        return np.frombuffer(text, "<u4")[:count]


def _check_allowed(description: Description, limit: Privacy | None, public: Iterable[str] | None) -> None:
    """Refuse a description that asks for more than a device allows."""
    if limit is not None and not isinstance(limit, PureDP | ApproxDP):
        raise ParameterError("`limit` must be `PureDP` or `ApproxDP`: a single report has no other kind of guarantee")
    if limit is not None and not within(description.privacy, limit):
        raise BudgetError(f"a report would cost {description.privacy}, and this device allows {limit}")
    allowed = [] if public is None or isinstance(public, str) else list(public)
    if isinstance(public, str) or not all(isinstance(name, str) for name in allowed):
        raise ParameterError(f"`public` must be a list of columns, for example ['label'], got {quoted(public)}")
    for name in description.public_columns:
        if name not in allowed:
            named = ", ".join(map(repr, allowed)) or "no column"
            raise BudgetError(
                f"a report would carry the column {quoted(name)} as it is, unprotected, and this device allows "
                f"that of {named}"
            )
