"""The options of `calibrant datasets`."""

from __future__ import annotations

from calibrant.cli.console import needing, reported
from calibrant.cli.later import later
from calibrant.cli.options import Data, Debug, Json

EXAMPLES = ("calibrant datasets", "calibrant datasets --data raw --json")


def datasets(*, data: Data = None, as_json: Json = False, debug: Debug = False) -> None:
    """List the datasets of the paper's study, and which of them are available."""
    with reported(debug=debug), needing("study"):
        listing = later("datasets")
        if as_json:
            later("judging").print_json(listing.listed(data))
        else:
            listing.show_list(data)
