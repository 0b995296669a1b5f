"""One HTML file from a template, its styles, scripts and data: self-contained, it opens from disk.

How a page is made: a template in assets/ extends page.html and fills the block `main`; a script in assets/ reads
`page.data`, draws with `charts.make(figure).show(spec)` and ends with `page.ready()`. page.js and charts.js say how.
"""

import base64
import hashlib
import json
import math
from decimal import ROUND_HALF_UP, Context
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import ChoiceLoader, Environment, FileSystemLoader, PackageLoader, StrictUndefined
from markupsafe import Markup

from calibrant.metrics.rounding import as_in_data, fixed

ASSETS = files("calibrant") / "reports" / "assets"
MINUS, ABSENT = "\N{MINUS SIGN}", "\N{EN DASH}"
SHELL = ("page.js", "marks.js", "save.js", "charts.js")
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def page(
    template: str,
    scripts: tuple[str, ...],
    data: Any,
    *,
    styles: tuple[str, ...] = ("page.css", "charts.css"),
    own: Path | None = None,
    **context: Any,
) -> str:
    """The template, rendered with its context and with all that it needs inside.

    Args:
        template: a file in assets/ that extends page.html.
        scripts: files in assets/, run in this order after those of the shell.
        data: what the scripts read as `page.data`; JSON, so None stands for a number that is not finite.
        styles: files in assets/, later ones win.
        own: a folder whose files are taken before those in assets/.
        context: the template's variables, escaped where they are used; page.html itself wants `title`.
    """
    style = "".join(_asset(name, own) for name in styles)
    sources = [_asset(name, own) for name in dict.fromkeys((*SHELL, *scripts))]
    text = (
        _environment(own)
        .get_template(template)
        .render(
            context,
            policy=_policy(style, sources),
            style=Markup(style),
            scripts=[Markup(source) for source in sources],
            data=Markup(_json(data)),
        )
    )
    # A title from a command line may hold bytes that are no text; a file in UTF-8 cannot.
    return text.encode("utf-8", "replace").decode()


def number(value: float | None, digits: int = 4) -> str:
    """A number as a reader wants it, to so many significant digits; `page.number` in page.js does the same.

    >>> number(-1234.567), number(0.5), number(1.25e-7), number(math.inf), number(None)
    ('−1,235', '0.5', '1.25×10⁻⁷', '∞', '–')
    """
    if value is None or math.isnan(value):
        return ABSENT
    sign, size = MINUS if value < 0 else "", abs(value)
    if math.isinf(size):
        return f"{sign}∞"
    if size != 0 and not 1e-4 <= size < 1e7:
        mantissa, power = f"{Context(prec=digits, rounding=ROUND_HALF_UP).create_decimal(size):e}".split("e")
        return f"{sign}{_trimmed(mantissa)}×10{str(int(power)).translate(SUPERSCRIPTS)}"
    decimals = max(0, digits - 1 - math.floor(math.log10(size))) if size else 0
    text = _trimmed(fixed(size, decimals))
    whole, point, rest = text.partition(".")
    return f"{sign if text != '0' else ''}{int(whole):,}{point}{rest}"


def _trimmed(text: str) -> str:
    return text.rstrip("0").rstrip(".") if "." in text else text


@cache
def _environment(own: Path | None) -> Environment:
    loaders = [FileSystemLoader([own] if own else []), PackageLoader("calibrant", "reports/assets")]
    environment = Environment(
        loader=ChoiceLoader(loaders),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["number"] = number
    environment.filters["fixed"] = fixed
    environment.filters["as_in_data"] = as_in_data
    return environment


def _asset(name: str, own: Path | None) -> str:
    mine = None if own is None else own / name
    return (mine if mine is not None and mine.is_file() else ASSETS / name).read_text("utf-8")


def _policy(style: str, scripts: list[str]) -> str:
    """The page's own scripts and style may run, by their hashes; nothing else may, and nothing may be fetched."""
    rules = {
        "default-src": "'none'",
        "script-src": " ".join(map(_hash, scripts)) or "'none'",
        "style-src": _hash(style),
        "img-src": "data:",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    return "; ".join(f"{rule} {allowed}" for rule, allowed in rules.items())


def _hash(source: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()}'"


def _json(data: Any) -> str:
    """JSON that cannot end the element it stands in: ASCII, with <, > and & as escapes."""
    try:
        text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    except ValueError as error:
        raise ValueError(f"data must be JSON, with None for a number that is not finite, got: {error}") from error
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
