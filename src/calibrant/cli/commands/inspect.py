"""The options of `calibrant inspect`."""

from __future__ import annotations

from calibrant.cli.console import reported
from calibrant.cli.lazy import later
from calibrant.cli.options import Debug, Json, ModelArgument

EXAMPLES = ("calibrant inspect m.safetensors", "calibrant inspect m.safetensors --json")


def inspect(
    model: ModelArgument,
    *,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Show what a model file holds, and what it guarantees."""
    with reported(debug=debug):
        found = later("model").Model.read(model)
        if as_json:
            later("results").print_json(later("inspect").description(found))
        else:
            later("inspect").show_description(found)
