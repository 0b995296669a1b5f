"""The live help of a command, where a page says `<!-- help: fit -->`; `<!-- help -->` lists all commands."""

from __future__ import annotations

import re
from typing import Any

from mkdocs.exceptions import PluginError

MARKER = re.compile(r"^<!-- help(?:: ([\w-]+))? -->$", re.MULTILINE)


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """The page with the help in it."""
    return MARKER.sub(lambda found: commands() if found[1] is None else command(found[1], page.file.src_uri), markdown)


def commands() -> str:
    """A table of all commands."""
    from calibrant.cli.app import HELP

    rows = [f"| `calibrant {name}` | {escaped(words)} |" for name, words in HELP.items()]
    return "\n".join(["| command | what it does |", "|---|---|", *rows])


def command(name: str, where: str) -> str:
    """The usage, arguments, options and examples of one command."""
    known = _known()
    if name not in known:
        raise PluginError(f"{where} asks for the help of {name!r}; the commands are {', '.join(known)}")
    found = known[name]
    needed = [_spelled(parameter) for parameter in found.params if parameter.required]
    parts = [str(found.help).strip(), f"```text\ncalibrant {' '.join([name, *needed])} [OPTIONS]\n```"]
    panels: dict[str, list[str]] = {}
    for parameter in found.params:
        if not getattr(parameter, "hidden", False):
            panels.setdefault(_panel(parameter), []).append(_row(parameter))
    parts += ["\n".join([f"| {panel} | |", "|---|---|", *rows]) for panel, rows in panels.items()]
    lines = [line.strip() for line in (found.epilog or "").splitlines()]
    examples = [line for line in lines if line.startswith("calibrant")]
    if examples:
        parts.append("\n".join(["```bash", *examples, "```"]))
    return "\n\n".join(parts)


def _known() -> dict[str, Any]:
    from calibrant.cli.app import HELP, load

    return {name: load(name) for name in HELP}


def _panel(parameter: Any) -> str:
    kind = "Arguments" if parameter.param_type_name == "argument" else "Options"
    return getattr(parameter, "rich_help_panel", None) or kind


def _spelled(parameter: Any, *, every: bool = False) -> str:
    """FILE, or --target NAME; with `every`, the short name of an option too."""
    if parameter.param_type_name == "argument":
        return str(parameter.metavar or parameter.name).upper()
    names = sorted(parameter.opts, key=len)
    shown = ", ".join(names) if every else names[-1]
    return shown if getattr(parameter, "is_flag", False) else f"{shown} {parameter.metavar or 'VALUE'}"


def _row(parameter: Any) -> str:
    default = parameter.default
    told = isinstance(default, (int, float, str)) and not isinstance(default, bool) and default != ""
    note = " *Required.*" if parameter.required else f" Default: `{default}`." if told else ""
    return f"| `{_spelled(parameter, every=True)}` | {escaped(getattr(parameter, 'help', None) or '')}{note} |"


def escaped(text: str) -> str:
    """Text inside a table of Markdown."""
    return " ".join(text.split()).replace("|", "\\|").replace("*", "\\*")
