"""The options of `calibrant inspect`."""

from __future__ import annotations

from calibrant.cli.console import report_errors
from calibrant.cli.lazy import module_of
from calibrant.cli.options import Debug, Json, ModelArgument

EXAMPLES = ("calibrant inspect m.safetensors", "calibrant inspect m.safetensors --json")


def inspect(
    model: ModelArgument,
    *,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Show what a model file holds, and what it guarantees."""
    with report_errors(debug=debug):
        found = module_of("model").Model.read(model)
        if as_json:
            module_of("results").print_json(module_of("inspect").description(found))
        else:
            module_of("inspect").show_description(found)
