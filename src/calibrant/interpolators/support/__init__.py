"""Where scores can lie, and so what fills the gaps between them and the space beyond them."""

from calibrant.interpolators.support.base import REAL_LINE, Support, as_support
from calibrant.interpolators.support.line import LARGEST, Line
from calibrant.interpolators.support.logits import Logits

__all__ = ["LARGEST", "REAL_LINE", "Line", "Logits", "Support", "as_support"]
