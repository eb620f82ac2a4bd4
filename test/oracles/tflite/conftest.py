"""Tests of this folder need LiteRT and the packages of its schema; they import its helpers by their names."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
