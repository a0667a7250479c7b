"""`ogive completion`: what makes a shell complete ogive's commands and options."""

from __future__ import annotations

from typing import Literal


def completion(shell: Literal["bash", "zsh", "fish"], /) -> None:
    """Print a script that completes commands and options; nothing is changed on this machine.

    Args:
        shell: Where it is for. In bash: eval "$(ogive completion bash)"; in zsh the same with zsh; in fish:
            ogive completion fish | source.
    """
    from ogive.cli import build

    print(build().generate_completion(prog_name="ogive", shell=shell))
