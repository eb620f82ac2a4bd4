"""The folder of what callers in C, C++ and Rust include: `lamina.h`, `lamina.rs`, and headers under TVM's paths."""

from __future__ import annotations

from pathlib import Path

INCLUDE = Path(__file__).with_name("include")
"""For `cc -I`; `lamina info --include` prints it."""
