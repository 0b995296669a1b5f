"""What is promised, in words."""

from __future__ import annotations


def in_words(n: int, epsilon: float, of_this_set: float, largest_tie: int, floored: int, *, randomised: bool) -> str:
    """What is promised and what is assumed."""
    bound, continuous = f"|P(H(Y) <= c) - c| <= {epsilon:.3g} for every c", ", and continuous scores"
    if randomised:
        bound, continuous = "P(H(Y) <= c) = c for every c", ""
    limits = limit_words(largest_tie, floored, randomised=randomised)
    share = f", {largest_tie / (n + 1):.2g} of them all" if largest_tie > 1 and not randomised else ""
    return (
        f"{bound}{limits}{share}, on average over calibration sets of n = {n}; for this one the error is at most"
        f" {of_this_set:.3g} with 95% confidence, if rows are independent. Assumes exchangeable data, a"
        f" model not trained on the calibration set{continuous}."
    )


def limit_words(largest_tie: int, floored: int, *, randomised: bool) -> str:
    """How far the bound can be taken at its word, to follow it: a floor that was learned, and ties."""
    limits = f", but only approximately: {floor_words(floored)}" if floored else ""
    if largest_tie > 1 and not randomised:
        limits += f", {'and' if floored else 'but'} only up to ties: the largest is of {largest_tie} scores"
    return limits


def drawn_words(drawn: object) -> str:
    """What H(Y) stands for, where labels have probabilities of their own."""
    if not drawn:
        return ""
    return (
        " Labels have probabilities of their own, and scores are continuous because each label is spread over its jump:"
        " H(Y) is the randomised PIT, drawn between P(Y < y) and P(Y <= y)."
    )


def floor_words(floored: int) -> str:
    """Why a guarantee is approximate."""
    rows, own, were = ("row", "its own", "was") if floored == 1 else ("rows", "their own", "were")
    return f"{floored} calibration {rows} had no width of {own} and {were} given a floor learned from all"
