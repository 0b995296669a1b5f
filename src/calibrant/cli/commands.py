"""How a function becomes a command, and what is said of wrong usage: one sentence, as of every other error."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from difflib import get_close_matches
from inspect import Parameter, signature
from typing import Annotated, Any, get_type_hints

import typer
from typer.core import TyperGroup
from typer.main import get_command

from calibrant.cli.console import reported
from calibrant.cli.exit import say

_WRONG: Any = typer.BadParameter.__mro__[1]  # UsageError, which typer keeps to itself
DEBUG = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]


def command(*examples: str) -> Callable[[Callable[..., None]], Any]:
    """Make a command of a function: a parameter that is a dataclass is an option for each field; --debug is added."""

    def made(function: Callable[..., None]) -> Any:
        parameters = signature(function, eval_str=True).parameters
        groups: dict[str, Any] = {
            name: each.annotation for name, each in parameters.items() if is_dataclass(each.annotation)
        }
        options: list[Parameter] = []
        for name, each in parameters.items():
            options += _options(groups[name]) if name in groups else [each.replace(kind=Parameter.KEYWORD_ONLY)]
        options.append(Parameter("debug", Parameter.KEYWORD_ONLY, default=False, annotation=DEBUG))

        def run(*, debug: bool, **given: Any) -> None:
            with reported(debug=debug):
                for name, group in groups.items():
                    given[name] = group(**{option.name: given.pop(option.name) for option in fields(group)})
                function(**given)

        run.__name__, run.__doc__ = function.__name__, function.__doc__
        run.__signature__ = signature(function).replace(parameters=options)  # type: ignore[attr-defined]
        run.__annotations__ = {option.name: option.annotation for option in options}
        app = typer.Typer(add_completion=False)
        app.command(epilog="\n\n".join(["Examples:", *examples]))(run)
        return get_command(app)

    return made


def _options(group: Any) -> list[Parameter]:
    """A keyword for each field of a dataclass."""
    kinds = get_type_hints(group, include_extras=True)
    return [
        Parameter(option.name, Parameter.KEYWORD_ONLY, default=option.default, annotation=kinds[option.name])
        for option in fields(group)
    ]


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
            command = self.loaded(name, command)
            with command.make_context(name, list(rest), parent=ctx, resilient_parsing=True) as trial:
                _, _, order = command.make_parser(trial).parse_args(args=list(rest))
                for option, count in Counter[Any](order).items():
                    if count > 1 and option.param_type_name == "option" and not (option.multiple or option.is_flag):
                        trial.fail(f"{max(option.opts, key=len)} was given {count} times, and only one can count")
        return name, command, rest

    def loaded(self, name: str | None, command: Any) -> Any:
        """The command itself, where a placeholder stands for it."""
        del name
        return command


def _sentence(error: Any) -> str:
    """What is wrong, and where help is."""
    message = error.format_message().splitlines()[0].replace(" Value error,", "").rstrip(".")  # of pydantic
    if hasattr(error, "option_name"):
        near = get_close_matches(error.option_name, error.possibilities or [], 1, cutoff=0.7)
        message = f"there is no option {error.option_name}" + (f"; did you mean {near[0]}?" if near else "")
    known = "" if error.ctx is None else f" (see {error.ctx.command_path} --help)"
    return f"{message[0].lower()}{message[1:]}{known}"
