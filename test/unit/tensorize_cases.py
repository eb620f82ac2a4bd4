"""Programs and declarations for the tests of te.tensorize, as text; and how they are run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from lamina.backends.cpu.jit import host_target, named_target
from lamina.dialects.target import TARGET
from lamina.driver.execute import run_module
from lamina.driver.pipelines import LLVM_PIPELINE, TIR_PIPELINE
from lamina.ir.context import LaminaContext
from lamina.ir.pipeline import parse_pipeline, run_pipeline

Array = np.ndarray[Any, Any]


def parsed(text: str, native: bool = True) -> tuple[ModuleOp, LaminaContext]:
    """A verified module, its target this machine, or one that has all that intrinsics need."""
    context = LaminaContext()
    module = Parser(context, text or "builtin.module {}").parse_module()
    module.verify()
    module.attributes[TARGET] = host_target(1) if native else named_target("sapphirerapids")
    return module, context


def run(text: str, inputs: Mapping[str, Array], native: bool) -> Array:
    """The one result of @main, by the tir interpreter right after the schedule, or by machine code."""
    module, context = parsed(text, native)
    passes = [*TIR_PIPELINE, *LLVM_PIPELINE] if native else ["te-to-tir"]
    run_pipeline(module, context, parse_pipeline(",".join(passes)))
    (result,) = run_module(module, context, "main", inputs).values()
    return cast(Array, result)


def program(arguments: Mapping[str, str], result: str, compute: str, schedule: str, declarations: str = "") -> str:
    """A te.func @f of one compute %C with its schedule, called by @main."""
    given = ", ".join(f"%{name}: {type_}" for name, type_ in arguments.items())
    names, types = ", ".join(f"%{n}" for n in arguments), ", ".join(arguments.values())
    scheduled = f"te.schedule @f {{\n{schedule}\n}}" if schedule else ""
    return f"""{declarations}
te.func @f({given}) -> {result} {{
{compute}
  te.return %C : {result}
}}
{scheduled}
func.func @main({given}) -> {result} {{
  %r = te.call @f({names}) : ({types}) -> {result}
  func.return %r : {result}
}}
"""


def int8_product(m: int, n: int, k: int, tensorized: bool = True) -> str:
    """Unsigned by signed bytes, the weights packed for VNNI."""
    a, w, c = f"tensor<{m}x{k}xui8>", f"tensor<{n // 16}x{k // 4}x16x4xi8>", f"tensor<{m}x{n}xi32>"
    compute = f"""  %C = te.compute "C" [{m}, {n}] sum [{k}] (%m, %n, %k) : {c} {{
    %x = te.read %A[%m, %k] : {a}
    %y = te.read %W[%n floordiv 16, %k floordiv 4, %n mod 16, %k mod 4] : {w}
    %u = arith.extui %x : i8 to i32
    %s = arith.extsi %y : i8 to i32
    %p = arith.muli %u, %s : i32
    te.yield %p : i32
  }}"""
    schedule = """  %m, %n, %k = te.loops "C" [3]
  %no, %ni = te.split %n [-1, 16]
  %ko, %ki = te.split %k [-1, 4]
  te.reorder %m, %no, %ko, %ki, %ni
  te.tensorize %ki @cpu.vnni_u8s8s32_16x4"""
    return program({"A": a, "W": w}, c, compute, schedule if tensorized else "")


def int8_convolution(height: int, width: int, channels: int, filters: int, window: int, tensorized: bool = True) -> str:
    """A convolution of NHWC bytes, stride 1, without padding, the weights packed for VNNI."""
    out_h, out_w = height - window + 1, width - window + 1
    a = f"tensor<{height}x{width}x{channels}xui8>"
    w = f"tensor<{filters // 16}x{window}x{window}x{channels // 4}x16x4xi8>"
    c = f"tensor<{out_h}x{out_w}x{filters}xi32>"
    extents = f"[{out_h}, {out_w}, {filters}] sum [{window}, {window}, {channels}]"
    compute = f"""  %C = te.compute "C" {extents} (%y, %x, %f, %r, %s, %c) : {c} {{
    %a = te.read %A[%y + %r, %x + %s, %c] : {a}
    %b = te.read %W[%f floordiv 16, %r, %s, %c floordiv 4, %f mod 16, %c mod 4] : {w}
    %u = arith.extui %a : i8 to i32
    %v = arith.extsi %b : i8 to i32
    %p = arith.muli %v, %u : i32
    te.yield %p : i32
  }}"""
    schedule = """  te.cache_write "C" scope "register"
  %y, %x, %f, %r, %s, %c = te.loops "C" [6]
  %fo, %fi = te.split %f [-1, 16]
  %co, %ci = te.split %c [-1, 4]
  te.reorder %y, %fo, %x, %r, %s, %co, %fi, %ci
  %yo, %xo, %fz = te.reverse_compute_at "C.out" at %x [3]
  te.tensorize %fi @cpu.vnni_u8s8s32_16x4
  te.vectorize %fz"""
    return program({"A": a, "W": w}, c, compute, schedule if tensorized else "")


def bf16_product(m: int, n: int, k: int) -> str:
    """bfloat16 numbers added up as floats, the weights packed in pairs."""
    a, w, c = f"tensor<{m}x{k}xbf16>", f"tensor<{n // 16}x{k // 2}x16x2xbf16>", f"tensor<{m}x{n}xf32>"
    compute = f"""  %C = te.compute "C" [{m}, {n}] sum [{k}] (%m, %n, %k) : {c} {{
    %x = te.read %A[%m, %k] : {a}
    %y = te.read %W[%n floordiv 16, %k floordiv 2, %n mod 16, %k mod 2] : {w}
    %u = arith.extf %x : bf16 to f32
    %v = arith.extf %y : bf16 to f32
    %p = arith.mulf %u, %v : f32
    te.yield %p : f32
  }}"""
    schedule = """  %m, %n, %k = te.loops "C" [3]
  %no, %ni = te.split %n [-1, 16]
  %ko, %ki = te.split %k [-1, 2]
  te.reorder %m, %no, %ko, %ni, %ki
  te.tensorize %ni @cpu.bf16_dot_16x2"""
    return program({"A": a, "W": w}, c, compute, schedule)


def float_product(m: int, n: int, k: int, tile: tuple[int, int, int]) -> str:
    """A plain product of floats in register tiles; its init is taken out of the reduction before."""
    a, b, c = f"tensor<{m}x{k}xf32>", f"tensor<{k}x{n}xf32>", f"tensor<{m}x{n}xf32>"
    compute = f"""  %C = te.compute "C" [{m}, {n}] sum [{k}] (%m, %n, %k) : {c} {{
    %x = te.read %A[%m, %k] : {a}
    %y = te.read %B[%k, %n] : {b}
    %p = arith.mulf %x, %y : f32
    te.yield %p : f32
  }}"""
    schedule = f"""  %m, %n, %k = te.loops "C" [3]
  %mo, %mi = te.split %m [-1, {tile[0]}]
  %no, %ni = te.split %n [-1, {tile[1]}]
  %ko, %ki = te.split %k [-1, {tile[2]}]
  te.reorder %mo, %no, %ko, %mi, %ni, %ki
  te.decompose_reduction "C" at %ko
  te.tensorize %mi @cpu.fma_tile_{"x".join(map(str, tile))}
  te.parallel %mo"""
    return program({"A": a, "B": b}, c, compute, schedule)
