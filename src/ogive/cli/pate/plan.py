"""`ogive pate plan`: aggregator, threshold and noise, chosen on public or simulated votes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from ogive.cli.data import whole
from ogive.cli.options.common import TABLE, OutputOptions, Plot, Words
from ogive.cli.output import busy, check_outputs, check_picture, draw, publish
from ogive.cli.pate.options import ALL_VOTES, VotesOptions
from ogive.errors import DataError, ParameterError, plain, quoted

if TYPE_CHECKING:
    from ogive.core.arrays import Int64

USUAL = ("0.5", "1", "2", "4", "8")


def plan(
    votes: Path | None = None,
    /,
    *,
    delta: str,
    epsilon: Words = (),
    answers: Words = (),
    public: Annotated[bool, Parameter(show_default=False)] = False,
    truth: Path | None = None,
    teachers: Annotated[int | None, Parameter(converter=whole)] = None,
    classes: Annotated[int | None, Parameter(converter=whole)] = None,
    queries: Annotated[int | None, Parameter(converter=whole)] = None,
    agreement: float | None = None,
    student: Path | None = None,
    confidence: str | None = None,
    seed: Annotated[int, Parameter(converter=whole)] = 0,
    chosen: VotesOptions = ALL_VOTES,
    output: OutputOptions = TABLE,
    plot: Plot = None,
) -> None:
    """Choose aggregator, threshold and noise on public or simulated votes; spends nothing.

    Each row is the best of its kind at one guarantee and number of answers. Parameters depend on the votes they were
    chosen by, so these must not be the ones that are to be protected.

    Args:
        votes: Public vote counts, with --public; without a file votes are simulated.
        delta: Of the guarantees, far below one over the number of people.
        epsilon: One or several that may be spent; 0.5 to 8 where --answers is given, else 1.
        answers: How many labels are wanted, one number or several; by default some shares of the queries.
        public: Says that the votes in the file are public: of teachers of public data, or imagined ones.
        truth: An .npy file of the right classes of a public file's queries; else the plurality counts as right.
        teachers: To simulate: how many there are.
        classes: To simulate: how many there are.
        queries: To simulate: how many are asked.
        agreement: To simulate: share of the queries on which most teachers agree, 0.85 by default.
        student: For a second round: an .npy file of the first student's probabilities, a row for every query. What
            counts then are answers that correct it. Simulated votes take its probabilities for right.
        confidence: With --student: above which probability its own label is kept; 0.9 by default.
        seed: Of everything that is simulated.
        chosen: Which votes of the file.
        output: Where the result goes.
        plot: A picture of the share of right labels, against epsilon or the number of answers.
    """
    from ogive.pate import plan_labels
    from ogive.pate.arrays import read_array

    if confidence is not None and student is None:
        raise ParameterError("--confidence is of a student; give its probabilities with --student, or leave it out")
    scores = None if student is None else read_array(student, None)
    imagined = {"teachers": teachers, "classes": classes, "queries": queries, "agreement": agreement}
    given = [name for name, value in imagined.items() if value is not None]
    if votes is None:
        right: Any
        counts, right = _simulated(imagined, scores, public=public, truth=truth, chosen=chosen, seed=seed)
    else:
        if given:
            raise ParameterError(f"--{given[0]} is for simulated votes; leave it out, or the file")
        if not public:
            raise ParameterError(
                "parameters that are chosen by private votes reveal something about them that no price covers; "
                "say --public if these votes are public, or simulate some with --teachers, --classes and --queries"
            )
        counts = chosen.read(votes)[1]
        right = None if truth is None else _truth(truth, len(counts))
        scores = None if scores is None else scores[: len(counts)]
    if plot is not None:
        check_picture(plot)
    check_outputs(votes, output.output, plot, keep=[path for path in (truth, student) if path is not None])
    wanted = [_number(word, "answers", int) for word in answers]
    spend = [_number(word, "epsilon", float) for word in epsilon or (USUAL if answers else ("1",))]
    with busy("planning") as progress:
        made = plan_labels(
            counts,
            epsilons=spend,
            target_delta=delta,
            answers=wanted or None,
            truth=right,
            probabilities=scores,
            confidence=confidence or "0.9",
            seed=seed,
            progress=progress,
        )
    publish(made.to_json, lambda: str(made), output, public=True)
    if plot is not None:
        draw(made.plot, plot)


def _simulated(
    imagined: dict[str, Any], scores: Any, *, public: bool, truth: Path | None, chosen: VotesOptions, seed: int
) -> tuple[Int64, Int64]:
    from ogive.pate import simulated_votes

    if scores is not None and scores.ndim == 2:
        for name, size in zip(("queries", "classes"), scores.shape, strict=True):
            imagined[name] = size if imagined[name] is None else imagined[name]
    for name in ("teachers", "classes", "queries"):
        if imagined[name] is None:
            raise ParameterError(
                f"say --{name}: to simulate votes takes --teachers, --classes and --queries; or give public votes"
            )
    if public or truth is not None or chosen != ALL_VOTES:
        raise ParameterError("--public, --truth, --name and --first need a file of public votes, and no file is named")
    said = {} if imagined["agreement"] is None else {"agreement": imagined["agreement"]}
    sizes = (imagined["queries"], imagined["teachers"], imagined["classes"])
    return simulated_votes(*sizes, probabilities=scores, seed=seed, **said)


def _truth(path: Path, queries: int) -> Any:
    from ogive.pate.arrays import read_array

    found = read_array(path, None)
    if found.ndim != 1 or len(found) < queries:
        raise DataError(f"{plain(path)} must hold a class for each of {queries} queries, got the shape {found.shape}")
    return found[:queries]


def _number(word: str, name: str, kind: type[Any]) -> Any:
    try:
        return kind(word)
    except ValueError:
        raise ParameterError(
            f"--{name} must be {'whole numbers' if kind is int else 'numbers'}, got {quoted(word)}"
        ) from None
