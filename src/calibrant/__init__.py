"""Calibrated predictive distributions for regression: H[x](y) = q(phi(f(x), y)).

Read `calibrant.calibration` first, then one score and one interpolator; the rest is variants of these. The names are
listed in `__init__.pyi`, and each is loaded when it is asked for.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
__all__.remove("plots")  # a star works without matplotlib
