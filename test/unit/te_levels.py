"""Runs a te.func at every level: by its definition, as naive loops, and as machine code, with a schedule or without."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp as MainOp
from xdsl.dialects.func import ReturnOp as MainReturn

from lamina.dialects.entry_names import level_of
from lamina.dialects.te.ops import CallOp, FuncOp
from lamina.driver.execute import run_module
from lamina.driver.pipelines import LLVM_PIPELINE, TIR_PIPELINE
from lamina.interpreters.te_interpreter import run_te_func
from lamina.interpreters.tir_interpreter import run_tir_func
from lamina.ir.context import LaminaContext
from lamina.ir.parsing import parse_text
from lamina.ir.pipeline import parse_pipeline, run_pipeline
from lamina.passes.te_to_tir.te_to_tir import lower_function

Arrays = list[np.ndarray[Any, Any]]


def module_of(func: FuncOp, schedule: str = "") -> ModuleOp:
    """A module with the function, its schedule as text (`te.schedule @f {...}`) and a @main that calls it."""
    text = str(ModuleOp([func.clone()]))
    module = parse_text(LaminaContext(), text[: text.rindex("}")] + schedule + "\n}", "scheduled.mlir")
    types = list(func.function_type.inputs)
    main = MainOp("main", (types, list(func.function_type.outputs)))
    block = main.body.block
    for n, argument in enumerate(block.args):
        argument.name_hint = f"a{n}"
    call = CallOp.make(func.sym_name.data, block.args, list(func.function_type.outputs))
    block.add_ops([call, MainReturn(*call.res)])
    module.body.block.add_op(main)
    module.verify()
    return module


def run_compiled(func: FuncOp, arrays: Sequence[np.ndarray[Any, Any]], schedule: str = "") -> Arrays:
    """The results of machine code."""
    ctx = LaminaContext()
    module = module_of(func, schedule)
    run_pipeline(module, ctx, parse_pipeline(",".join([*TIR_PIPELINE, *LLVM_PIPELINE])))
    assert level_of(module) == "llvm"
    return list(run_module(module, ctx, "main", {f"a{n}": a for n, a in enumerate(arrays)}).values())


def run_scheduled(func: FuncOp, arrays: Sequence[np.ndarray[Any, Any]], schedule: str) -> Arrays:
    """The results of the scheduled loops by the tir interpreter."""
    ctx = LaminaContext()
    module = module_of(func, schedule)
    run_pipeline(module, ctx, parse_pipeline("te-to-tir"))
    return list(run_module(module, ctx, "main", {f"a{n}": a for n, a in enumerate(arrays)}).values())


def agree_everywhere(
    func: FuncOp, arrays: Sequence[np.ndarray[Any, Any]], expected: Sequence[Any], schedule: str = "", rtol: float = 0
) -> None:
    """Check every level against what NumPy says, exactly unless `rtol` is given."""
    levels = {
        "te": run_te_func(func, arrays),
        "tir": run_tir_func(lower_function(func)[0], arrays),
        "machine code": run_compiled(func, arrays),
    }
    if schedule:
        levels["scheduled tir"] = run_scheduled(func, arrays, schedule)
        levels["scheduled machine code"] = run_compiled(func, arrays, schedule)
    for level, results in levels.items():
        assert len(results) == len(expected)
        for found, wanted in zip(results, expected, strict=True):
            np.testing.assert_allclose(found, wanted, rtol=rtol, err_msg=level)
            assert found.dtype == wanted.dtype, level
