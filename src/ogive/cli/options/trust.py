"""Options that say who holds the records, and how a trust model is made of them."""

# annotations stay values here: the parser reads them off subclasses, whose modules do not have these names

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from cyclopts import Group, Parameter

from ogive.cli.converters import whole
from ogive.errors import ParameterError, quoted

if TYPE_CHECKING:
    from ogive.trust import Simulation

HOLDERS = Group("Parties and servers", sort_key=2.5)


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class HolderOptions:
    """How many parties and servers there are, and how many of them need not be trusted."""

    parties: Annotated[int | None, Parameter(converter=whole, group=HOLDERS)] = None
    """Deal the records to so many organizations; under --trust servers without it each record has its own owner."""

    colluding: Annotated[int | None, Parameter(converter=whole, group=HOLDERS)] = None
    """With --trust secagg: how many parties may tell others all they know, or read what is released; one by default."""

    dropouts: Annotated[int | None, Parameter(converter=whole, group=HOLDERS)] = None
    """With --trust secagg: how many parties may leave before the end; none by default."""

    servers: Annotated[int | None, Parameter(converter=whole, group=HOLDERS)] = None
    """With --trust servers: how many there are, of which one has to be honest; two by default."""

    upload: Annotated[str | None, Parameter(group=HOLDERS)] = None
    """With --trust servers: keys or tables, which is what owners upload; by default the cheaper."""

    circuits: Annotated[str | None, Parameter(group=HOLDERS)] = None
    """With --trust pairs: garbled, as people would (the default), or clear, which says the same sooner."""

    absent: Annotated[float | None, Parameter(group=HOLDERS)] = None
    """With --trust pairs: which share of the people does not come; none by default."""

    def simulations(self, names: Sequence[str]) -> "list[Simulation]":
        """The trust models of these names with their options, to be made of the records.

        Raises:
            ParameterError: there is no such model, an option fits none of them, or one is missing.
        """
        from ogive.trust import Simulation
        from ogive.trust.models import MODELS, model_named

        for name in names:
            if name not in MODELS:
                raise ParameterError(f"--trust must be one of {', '.join(MODELS)}, got {quoted(name)}")
        said = {name: value for name, value in vars(self).items() if name in _OPTIONS and value is not None}

        def taken(name: str) -> set[str]:
            return {field.name for field in model_named(name).option_fields()}

        # all other models are loaded for an error alone
        takes = {name: taken(name) for name in names}
        for option in said:
            if not any(option in takes[name] for name in names):
                fitting = [name for name in MODELS if option in taken(name)]
                raise ParameterError(f"--{option} needs --trust {' or '.join(fitting)} beside it")
        if self.upload == "sums" and self.parties is None:
            raise ParameterError(
                "sums are uploaded by organizations; say how many with --parties, or use --upload tables"
            )
        return [
            Simulation(name, **{option: value for option, value in said.items() if option in takes[name]})
            for name in names
        ]


_OPTIONS = tuple(HolderOptions.__dataclass_fields__)
