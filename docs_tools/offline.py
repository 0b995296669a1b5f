"""The site asks no other server for anything: a page that would fails the build. Links may lead anywhere."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from mkdocs.exceptions import PluginError

ELSEWHERE = re.compile(r"\s*(?:https?:)?//", re.IGNORECASE)
IN_CSS = re.compile(r"(?:url\(|@import)\s*[\"']?\s*((?:https?:)?//[^\"')\s]+)", re.IGNORECASE)
LOADED = {"audio", "embed", "iframe", "img", "input", "object", "script", "source", "track", "video"}
"""Elements that load what their src, srcset, data or poster names."""
QUIET = {"alternate", "author", "bookmark", "canonical", "help", "license", "next", "nofollow", "prev", "search"}
"""What a <link> can be without being loaded."""


def on_post_build(config: Any) -> None:
    """Look through every page and style sheet that was written."""
    site = Path(config.site_dir)
    for path in sorted([*site.rglob("*.html"), *site.rglob("*.css")]):
        text = path.read_text(encoding="utf-8")
        asked = IN_CSS.findall(text) if path.suffix == ".css" else loaded_from_elsewhere(text)
        if asked:
            raise PluginError(f"{path.relative_to(site)} would load {asked[0]} from another server")


def loaded_from_elsewhere(page: str) -> list[str]:
    """The addresses on other servers that a browser would ask for.

    >>> loaded_from_elsewhere('<a href="https://example.org">a link</a><img src="picture.png">')
    []
    >>> loaded_from_elsewhere('<script src="https://example.org/x.js"></script>')
    ['https://example.org/x.js']
    """
    reader = _Reader()
    reader.feed(page)
    return reader.found


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = {name: value or "" for name, value in attrs}
        names = ("src", "srcset", "data", "poster") if tag in LOADED else ()
        if tag == "link" and not set(known.get("rel", "").lower().split()) <= QUIET:
            names = ("href",)
        self.found += [known[name] for name in names if ELSEWHERE.match(known.get(name, ""))]
        self.found += IN_CSS.findall(known.get("style", ""))
