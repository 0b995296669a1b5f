"""Wrong usage: one sentence, as for every other error, and an option that is given twice is wrong too."""

from __future__ import annotations

import sys
from collections import Counter
from difflib import get_close_matches
from typing import Any

import typer
from typer.core import TyperGroup

from calibrant.cli.exit import say

_WRONG: Any = typer.BadParameter.__mro__[1]  # UsageError, which typer keeps to itself


class Commands(TyperGroup):
    """The commands; each option of theirs is given once, unless it takes several values."""

    def main(self, args: Any = None, prog_name: Any = None, **extra: Any) -> Any:  # type: ignore[override]
        """Run the command line; wrong usage is one sentence and exits with 2."""
        standalone_mode = extra.pop("standalone_mode", True)
        try:
            result = super().main(args, prog_name, standalone_mode=False, **extra)
        except _WRONG as error:
            if not standalone_mode:
                raise
            if error.format_message():  # else the help was asked for, and is printed
                say(f"error: {_sentence(error)}")
            sys.exit(2)
        except typer.Abort:
            if not standalone_mode:
                raise
            say("error: aborted")
            sys.exit(1)
        if standalone_mode:
            sys.exit(result if isinstance(result, int) else 0)
        return result

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[Any, Any, list[str]]:
        """The command of a line, and what follows it."""
        name, command, rest = super().resolve_command(ctx, args)
        if command is not None:
            with command.make_context(name, list(rest), parent=ctx, resilient_parsing=True) as trial:
                _, _, order = command.make_parser(trial).parse_args(args=list(rest))
                for option, count in Counter[Any](order).items():
                    if count > 1 and option.param_type_name == "option" and not (option.multiple or option.is_flag):
                        trial.fail(f"{max(option.opts, key=len)} was given {count} times, and only one can count")
        return name, command, rest


def _sentence(error: Any) -> str:
    """What is wrong, and where help is."""
    message = error.format_message().splitlines()[0].rstrip(".")
    if hasattr(error, "option_name"):
        near = get_close_matches(error.option_name, error.possibilities or [], 1, cutoff=0.7)
        message = f"there is no option {error.option_name}" + (f"; did you mean {near[0]}?" if near else "")
    known = "" if error.ctx is None else f" (see {error.ctx.command_path} --help)"
    return f"{message[0].lower()}{message[1:]}{known}"
