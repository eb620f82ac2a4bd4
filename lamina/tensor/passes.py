"""Passes on the module of a tensor program."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import VerifyException

from lamina.errors import InputError, LaminaError
from lamina.ir.context import LaminaContext
from lamina.ir.diagnostics import location_text
from lamina.ir.pipeline import parse_pipeline


def run_passes(module: ModuleOp, passes: Sequence[str]) -> ModuleOp:
    """Apply passes to a module in place; an error gets the place in the user's program."""
    ctx = LaminaContext()
    try:
        for p in parse_pipeline(",".join(passes)):
            p.apply(ctx, module)
    except LaminaError as error:
        if error.op is not None and not error.where:
            error.where = location_text(error.op)
        raise
    except VerifyException as error:
        raise InputError(" ".join(str(error).split())) from error
    return module
