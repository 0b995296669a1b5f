"""What not every system has."""

from __future__ import annotations

import os

import pytest

on_posix = pytest.mark.skipif(os.name == "nt", reason="Windows has other pipes, signals, links, permissions and names")
with_full_device = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no full device")
