"""An option that is given twice, of which only one would count, is wrong usage."""

from __future__ import annotations

from collections import Counter
from typing import Any

from typer.core import TyperGroup


class Once(TyperGroup):
    """The commands; each option of theirs is given once, unless it takes several values."""

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[Any, Any, list[str]]:
        """The command of a line, and what follows it."""
        name, command, rest = super().resolve_command(ctx, args)
        if command is not None:
            with command.make_context(name, list(rest), parent=ctx, resilient_parsing=True) as trial:
                _, _, order = command.make_parser(trial).parse_args(args=list(rest))
            for option, count in Counter[Any](order).items():
                if count > 1 and option.param_type_name == "option" and not (option.multiple or option.is_flag):
                    ctx.fail(f"{max(option.opts, key=len)} was given {count} times, and only one can count")
        return name, command, rest
