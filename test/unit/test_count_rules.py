"""How many passes are rules: what counts as a line besides them, and that there are not fewer than there were."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

import pytest

from tools import count_rules

LEAST = 22
"""Passes of the CPU's pipeline that are rules."""

TEXT = '''"""A docstring."""

from dataclasses import dataclass
from typing import Any

from lamina.dialects import relay as r
from lamina.dialects.rules.terms import attr, computed, var
from lamina.passes.base import Context, ModuleOp, ModulePass
from lamina.passes.rules.rewriting import Rules

x = var("x")
axes = attr("axes")
LEAST = 3
rules = Rules("relay-test")


@computed
def is_long(axes: Any) -> bool:
    return len(axes) > LEAST


def turned(value: Any) -> Any:
    return r.transpose(value, axes=axes)


for op in (r.exp, r.abs):
    rules += (op(op(turned(x))) >> turned(op(op(x)))).when(is_long(axes))


@rules.lower(r.negative)
def drop(op: Any) -> Any:
    """Before: negative    After: none"""
    return None


@dataclass(frozen=True)
class TestPass(ModulePass):
    name = "relay-test"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        rules.apply(op)
'''


def test_rules_their_parts_and_the_pass_are_not_besides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Besides are a number and a function of patterns: three lines."""
    path = tmp_path / "counted_rules.py"
    path.write_text(TEXT)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    found = count_rules.figures("relay-test", path, import_module("counted_rules"))
    assert (found.sets, found.besides, found.is_rules) == (True, 3, True)


def test_no_pass_ceases_to_be_rules() -> None:
    assert sum(found.is_rules for found in count_rules.passes()) >= LEAST
