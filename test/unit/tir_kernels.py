"""Kernels of tir for tests: read from text, run by the interpreter and as machine code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, SymbolRefAttr, i64
from xdsl.dialects.func import FuncOp as MainOp
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Attribute, Block, Region
from xdsl.parser import Parser

from lamina.dialects.tir.calls import CallOp
from lamina.dialects.tir.ops import FuncOp
from lamina.driver.execute import run_module
from lamina.ir.context import LaminaContext
from lamina.ir.pipeline import parse_pipeline
from lamina.ir.verification import VerificationError, verify_module

CTX = LaminaContext()
Array = np.ndarray[Any, Any]


def parse(text: str) -> ModuleOp:
    module = Parser(CTX, text).parse_module()
    check(module)
    return module


def check(module: ModuleOp) -> None:
    """The module is well formed."""
    try:
        verify_module(module)
    except VerificationError as e:
        raise AssertionError(f"{e}\n{module}") from e


def passes(module: ModuleOp, pipeline: str) -> ModuleOp:
    """A copy of a module with passes applied."""
    copy = module.clone()
    for p in parse_pipeline(pipeline):
        p.apply(CTX, copy)
        check(copy)
    return copy


def kernel_of(module: ModuleOp, name: str = "f") -> FuncOp:
    return next(op for op in module.ops if isinstance(op, FuncOp) and op.sym_name.data == name)


def interpret(module: ModuleOp, arrays: Sequence[Array], name: str = "f") -> list[Array]:
    """The outputs of a kernel, run by the checking interpreter."""
    return list(run_module(module, CTX, name, list(arrays)).values())


def lowered(module: ModuleOp, pipeline: str = "tir-plan-memory,tir-to-llvm", name: str = "f") -> ModuleOp:
    """A copy with a `@main` that calls a kernel, at the level of machine code."""
    copy = module.clone()
    types: list[Attribute] = list(kernel_of(copy, name).function_type.inputs)
    block = Block(arg_types=types)
    call = CallOp.create(operands=list(block.args), properties={"callee": SymbolRefAttr(name)})
    block.add_ops([call, ReturnOp()])
    main = MainOp("main", (types, []), Region(block))
    main.attributes["lamina.outputs"] = IntegerAttr(kernel_of(copy, name).outputs.value.data, i64)
    copy.body.block.add_op(main)
    for p in parse_pipeline(pipeline):
        p.apply(CTX, copy)
    check(copy)
    return copy


def execute(
    module: ModuleOp, arrays: Sequence[Array], pipeline: str = "tir-plan-memory,tir-to-llvm", name: str = "f"
) -> list[Array]:
    """The outputs of a kernel, run as machine code; `@main` is made here."""
    made = lowered(module, pipeline, name)
    return list(run_module(made, CTX, "main", {f"arg{n}": a for n, a in enumerate(arrays)}).values())
