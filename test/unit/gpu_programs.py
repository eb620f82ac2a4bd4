"""Programs with schedules for threads: text, inputs, and what NumPy says they give. Values are small integers in f32,
so that sums are exact in any order (softmax apart).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any

import numpy as np

from lamina.driver.pipelines import DEVICE_PIPELINE

Array = np.ndarray[Any, Any]

PIPELINE = ",".join(DEVICE_PIPELINE[1:])
"""From what te-to-tir leaves to kernels of the device and their launches."""


@dataclass
class Program:
    """A te.func with its schedule, and its meaning."""

    name: str
    text: str
    inputs: list[Any]
    outputs: list[Array]
    exact: bool = True
    notes: dict[str, int] = field(default_factory=dict[str, int])
    in_step: bool = True
    """Whether iterations of threads' loops may meet between statements: not where each sums up a shared part."""


def _integers(rng: np.random.Generator, *shape: int) -> Array:
    return rng.integers(-4, 5, shape).astype(np.float32)


def vector_add(n: int, threads: int = 64) -> Program:
    """C[i] = A[i] + B[i] for any n, a block of threads for each part of it."""
    rng = np.random.default_rng(n)
    a, b = _integers(rng, n), _integers(rng, n)
    shape = "{te.shape = #te.map<(d0) -> (d0)>}"
    text = f"""
te.func @vadd(%n: index, %A: tensor<?xf32> {shape}, %B: tensor<?xf32> {shape}) -> tensor<?xf32> {{
  %c = te.compute "C" [%n] (%i) : tensor<?xf32> {{
    %a = te.read %A[%i] : tensor<?xf32>
    %b = te.read %B[%i] : tensor<?xf32>
    %s = arith.addf %a, %b : f32
    te.yield %s : f32
  }}
  te.return %c : tensor<?xf32>
}}
te.schedule @vadd {{
  %i = te.loops "C" [1]
  %bx, %tx = te.split %i [-1, {threads}]
  te.bind %bx "blockIdx.x"
  te.bind %tx "threadIdx.x"
}}
"""
    return Program(f"vadd_{n}", text, [n, a, b], [a + b])


def vector_add_wide(n: int) -> Program:
    """The same for a known n, four elements a thread by vectors."""
    rng = np.random.default_rng(n)
    a, b = _integers(rng, n), _integers(rng, n)
    text = f"""
te.func @wide(%A: tensor<{n}xf32>, %B: tensor<{n}xf32>) -> tensor<{n}xf32> {{
  %c = te.compute "C" [{n}] (%i) : tensor<{n}xf32> {{
    %a = te.read %A[%i] : tensor<{n}xf32>
    %b = te.read %B[%i] : tensor<{n}xf32>
    %s = arith.addf %a, %b : f32
    te.yield %s : f32
  }}
  te.return %c : tensor<{n}xf32>
}}
te.schedule @wide {{
  %i = te.loops "C" [1]
  %bx, %tx, %v = te.split %i [-1, 32, 4]
  te.bind %bx "blockIdx.x"
  te.bind %tx "threadIdx.x"
  te.vectorize %v
}}
"""
    return Program(f"wide_{n}", text, [a, b], [a + b])


def matmul(m: int, n: int, k: int, tile: dict[str, int], shared: bool = True, registers: bool = False) -> Program:
    """C = A B by blocks: `ty`, `tx` threads, `vy`, `vx` virtual ones, `iy`, `ix` elements each, steps of `kk` in k.

    With `registers` a thread's elements are values, the loops over them written out.
    """
    t = tile
    rng = np.random.default_rng(m * 31 + n)
    a, b = _integers(rng, m, k), _integers(rng, k, n)
    text = f"""
te.func @mm(%A: tensor<{m}x{k}xf32>, %B: tensor<{k}x{n}xf32>) -> tensor<{m}x{n}xf32> {{
  %c = te.compute "C" [{m}, {n}] sum [{k}] (%i, %j, %k) : tensor<{m}x{n}xf32> {{
    %a = te.read %A[%i, %k] : tensor<{m}x{k}xf32>
    %b = te.read %B[%k, %j] : tensor<{k}x{n}xf32>
    %p = arith.mulf %a, %b : f32
    te.yield %p : f32
  }}
  te.return %c : tensor<{m}x{n}xf32>
}}
te.schedule @mm {{
  te.cache_write "C" scope "{"register" if registers else "local"}"
  %i, %j = te.loops "C.out" [2]
  %by, %vy, %ty, %yi = te.split %i [-1, {t["vy"]}, {t["ty"]}, {t["iy"]}]
  %bx, %vx, %tx, %xi = te.split %j [-1, {t["vx"]}, {t["tx"]}, {t["ix"]}]
  te.reorder %by, %bx, %vy, %vx, %ty, %tx, %yi, %xi
  te.bind %by "blockIdx.y"
  te.bind %bx "blockIdx.x"
  te.bind %vy "vthread.y"
  te.bind %vx "vthread.x"
  te.bind %ty "threadIdx.y"
  te.bind %tx "threadIdx.x"
  %ci, %cj, %ck = te.compute_at "C" at %tx [3]
  %ko, %ki = te.split %ck [-1, {t["kk"]}]
  te.reorder %ko, %ki, %ci, %cj
"""
    if registers:
        text += "".join(f"  te.unroll %{v}\n" for v in ("yi", "xi", "ci", "cj"))
    for name in "AB" if shared else "":
        text += f"""  %{name}0, %{name}1 = te.cache_read "{name}" in "C" at %ko scope "shared" [2]
  %{name}y, %{name}0i = te.split %{name}0 [{t["ty"]}, -1]
  %{name}x, %{name}1i = te.split %{name}1 [{t["tx"]}, -1]
  te.reorder %{name}y, %{name}x, %{name}0i, %{name}1i
  te.bind %{name}y "threadIdx.y"
  te.bind %{name}x "threadIdx.x"
"""
    return Program(f"matmul_{m}x{n}x{k}", text + "}\n", [a, b], [a @ b], notes=dict(t))


def stencil(h: int, w: int, ty: int, tx: int) -> Program:
    """A 3x3 sum of neighbours; a block first fetches its tile with the border."""
    rng = np.random.default_rng(h)
    x = _integers(rng, h + 2, w + 2)
    y = sum(x[r : r + h, s : s + w] for r in range(3) for s in range(3))
    text = f"""
te.func @stencil(%X: tensor<{h + 2}x{w + 2}xf32>) -> tensor<{h}x{w}xf32> {{
  %y = te.compute "Y" [{h}, {w}] sum [3, 3] (%i, %j, %r, %s) : tensor<{h}x{w}xf32> {{
    %x = te.read %X[%i + %r, %j + %s] : tensor<{h + 2}x{w + 2}xf32>
    te.yield %x : f32
  }}
  te.return %y : tensor<{h}x{w}xf32>
}}
te.schedule @stencil {{
  %i, %j, %r, %s = te.loops "Y" [4]
  %by, %ty = te.split %i [-1, {ty}]
  %bx, %tx = te.split %j [-1, {tx}]
  te.reorder %by, %bx, %ty, %tx, %r, %s
  te.bind %by "blockIdx.y"
  te.bind %bx "blockIdx.x"
  %x0, %x1 = te.cache_read "X" in "Y" at %bx scope "shared" [2]
  %x0o, %x0i = te.split %x0 [-1, {ty}]
  %x1o, %x1i = te.split %x1 [-1, {tx}]
  te.reorder %x0o, %x1o, %x0i, %x1i
  te.bind %x0i "threadIdx.y"
  te.bind %x1i "threadIdx.x"
  te.bind %ty "threadIdx.y"
  te.bind %tx "threadIdx.x"
}}
"""
    return Program(f"stencil_{h}x{w}", text, [x], [np.asarray(y)])


def softmax(rows: int, columns: int, threads: int) -> Program:
    """Row by row, the maximum and the sum folded by the threads of a block."""
    rng = np.random.default_rng(columns)
    x = rng.standard_normal((rows, columns)).astype(np.float32)
    e = np.exp(x - x.max(1, keepdims=True))
    text = f"""
te.func @softmax(%X: tensor<{rows}x{columns}xf32>) -> tensor<{rows}x{columns}xf32> {{
  %m = te.compute "M" [{rows}] max [{columns}] (%i, %k) : tensor<{rows}xf32> {{
    %x = te.read %X[%i, %k] : tensor<{rows}x{columns}xf32>
    te.yield %x : f32
  }}
  %e = te.compute "E" [{rows}, {columns}] (%i, %j) : tensor<{rows}x{columns}xf32> {{
    %x = te.read %X[%i, %j] : tensor<{rows}x{columns}xf32>
    %b = te.read %m[%i] : tensor<{rows}xf32>
    %d = arith.subf %x, %b : f32
    %v = math.exp %d : f32
    te.yield %v : f32
  }}
  %s = te.compute "S" [{rows}] sum [{columns}] (%i, %k) : tensor<{rows}xf32> {{
    %x = te.read %e[%i, %k] : tensor<{rows}x{columns}xf32>
    te.yield %x : f32
  }}
  %y = te.compute "Y" [{rows}, {columns}] (%i, %j) : tensor<{rows}x{columns}xf32> {{
    %x = te.read %e[%i, %j] : tensor<{rows}x{columns}xf32>
    %t = te.read %s[%i] : tensor<{rows}xf32>
    %v = arith.divf %x, %t : f32
    te.yield %v : f32
  }}
  te.return %y : tensor<{rows}x{columns}xf32>
}}
te.schedule @softmax {{
  %i, %j = te.loops "Y" [2]
  te.bind %i "blockIdx.x"
  te.set_scope "E" "shared"
  te.set_scope "S" "shared"
  te.set_scope "M" "shared"
  %si, %sk = te.compute_at "S" at %i [2]
  %ei, %ej = te.compute_at "E" at %i [2]
  %mi, %mk = te.compute_at "M" at %i [2]
  %jo, %jt = te.split %j [-1, {threads}]
  te.bind %jt "threadIdx.x"
  %eo, %et = te.split %ej [-1, {threads}]
  te.bind %et "threadIdx.x"
  %so, %st = te.split %sk [-1, {threads}]
  te.reorder %st, %so
  te.bind %st "threadIdx.x"
  %mo, %mt = te.split %mk [-1, {threads}]
  te.reorder %mt, %mo
  te.bind %mt "threadIdx.x"
}}
"""
    return Program(f"softmax_{rows}x{columns}", text, [x], [e / e.sum(1, keepdims=True)], exact=False)


def reversal(n: int, threads: int) -> Program:
    """Every thread reads what another of its block has computed."""
    rng = np.random.default_rng(n)
    x = _integers(rng, n, threads)
    text = f"""
te.func @reversal(%X: tensor<{n}x{threads}xf32>) -> tensor<{n}x{threads}xf32> {{
  %d = te.compute "D" [{n}, {threads}] (%i, %j) : tensor<{n}x{threads}xf32> {{
    %x = te.read %X[%i, %j] : tensor<{n}x{threads}xf32>
    %v = arith.addf %x, %x : f32
    te.yield %v : f32
  }}
  %y = te.compute "Y" [{n}, {threads}] (%i, %j) : tensor<{n}x{threads}xf32> {{
    %x = te.read %d[%i, %j * -1 + {threads - 1}] : tensor<{n}x{threads}xf32>
    te.yield %x : f32
  }}
  te.return %y : tensor<{n}x{threads}xf32>
}}
te.schedule @reversal {{
  %i, %j = te.loops "Y" [2]
  te.bind %j "threadIdx.x"
  %di, %dj = te.compute_at "D" at %i [2]
  te.bind %dj "threadIdx.x"
}}
""".replace(
        '  te.bind %j "threadIdx.x"\n  %di',
        '  %g, %h = te.split %i [1, -1]\n  te.bind %g "blockIdx.x"\n  te.bind %j "threadIdx.x"\n  %di',
    ).replace('"D" at %i', '"D" at %h')
    return Program(f"reversal_{n}x{threads}", text, [x], [(x + x)[:, ::-1]])


def row_sum(rows: int, columns: int, ty: int, tx: int, inner: bool) -> Program:
    """Sums of rows, each by `tx` threads of a block of `ty` rows; `inner`: the threads take turns in a serial loop."""
    rng = np.random.default_rng(columns)
    x = _integers(rng, rows, columns)
    order = "%kt, %ko" if inner else "%ko, %kt"
    text = f"""
te.func @rows(%X: tensor<{rows}x{columns}xf32>) -> tensor<{rows}xf32> {{
  %y = te.compute "Y" [{rows}] sum [{columns}] (%i, %k) : tensor<{rows}xf32> {{
    %x = te.read %X[%i, %k] : tensor<{rows}x{columns}xf32>
    te.yield %x : f32
  }}
  te.return %y : tensor<{rows}xf32>
}}
te.schedule @rows {{
  %i, %k = te.loops "Y" [2]
  %b, %t = te.split %i [-1, {ty}]
  %ko, %kt = te.split %k [-1, {tx}]
  te.reorder {order}
  te.bind %b "blockIdx.x"
  te.bind %t "threadIdx.y"
  te.bind %kt "threadIdx.x"
}}
"""
    return Program(f"row_sum_{rows}x{columns}_{ty}x{tx}", text, [x], [x.sum(1)])


def argmax(rows: int, columns: int, threads: int) -> Program:
    """The place of the largest element of each row, and that element: two values reduced together."""
    rng = np.random.default_rng(rows)
    x = rng.permutation(rows * columns).reshape(rows, columns).astype(np.float32)
    text = f"""
te.func @argmax(%X: tensor<{rows}x{columns}xf32>) -> (tensor<{rows}xi32>, tensor<{rows}xf32>) {{
  %p, %v = te.compute "am" [{rows}] reduce [{columns}] (%i, %k) : tensor<{rows}xi32>, tensor<{rows}xf32> {{
    %x = te.read %X[%i, %k] : tensor<{rows}x{columns}xf32>
    %j = te.index [%k] : index
    %place = arith.index_cast %j : index to i32
    te.yield %place, %x : i32, f32
  }} combine (%p0, %v0, %p1, %v1) {{
    %first = arith.cmpf oge, %v0, %v1 : f32
    %a = arith.select %first, %p0, %p1 : i32
    %b = arith.select %first, %v0, %v1 : f32
    te.yield %a, %b : i32, f32
  }} identity {{
    %a = arith.constant -1 : i32
    %b = arith.constant 0xFF800000 : f32
    te.yield %a, %b : i32, f32
  }}
  te.return %p, %v : tensor<{rows}xi32>, tensor<{rows}xf32>
}}
te.schedule @argmax {{
  %i, %k = te.loops "am" [2]
  te.bind %i "blockIdx.x"
  %ko, %kt = te.split %k [-1, {threads}]
  te.reorder %kt, %ko
  te.bind %kt "threadIdx.x"
}}
"""
    return Program(f"argmax_{rows}x{columns}", text, [x], [x.argmax(1).astype(np.int32), x.max(1)])


def nested_sums(rows: int, n: int, r: int, threads: int, step: int) -> Program:
    """Y[i] = sum_k P[k] W[i, k] with P[k] = sum_r X[k, r], a part of P shared by a block in each step over k."""
    rng = np.random.default_rng(rows)
    x, w = _integers(rng, n, r), _integers(rng, rows, n)
    text = f"""
te.func @nested(%X: tensor<{n}x{r}xf32>, %W: tensor<{rows}x{n}xf32>) -> tensor<{rows}xf32> {{
  %p = te.compute "P" [{n}] sum [{r}] (%k, %q) : tensor<{n}xf32> {{
    %x = te.read %X[%k, %q] : tensor<{n}x{r}xf32>
    te.yield %x : f32
  }}
  %y = te.compute "Y" [{rows}] sum [{n}] (%i, %k) : tensor<{rows}xf32> {{
    %a = te.read %p[%k] : tensor<{n}xf32>
    %b = te.read %W[%i, %k] : tensor<{rows}x{n}xf32>
    %c = arith.mulf %a, %b : f32
    te.yield %c : f32
  }}
  te.return %y : tensor<{rows}xf32>
}}
te.schedule @nested {{
  te.set_scope "P" "shared"
  %i, %k = te.loops "Y" [2]
  %b, %t = te.split %i [-1, {threads}]
  %ko, %ki = te.split %k [-1, {step}]
  te.bind %b "blockIdx.x"
  te.bind %t "threadIdx.x"
  %pk, %pq = te.compute_at "P" at %ko [2]
  %po, %pt = te.split %pk [-1, {threads}]
  te.bind %pt "threadIdx.x"
}}
"""
    return Program(f"nested_{rows}x{n}x{r}", text, [x, w], [w @ x.sum(1)], in_step=False)


def draw(random: Random) -> Program:
    """One of the programs, its sizes and tiles drawn; sizes seldom divide."""
    pick = random.randint
    makers: list[Callable[[], Program]] = [
        lambda: vector_add(random.choice([0, 1, 7, 31, 32, 33, 100]), random.choice([1, 8, 32])),
        lambda: matmul(
            pick(2, 14),
            pick(2, 14),
            pick(2, 9),
            {"vy": pick(1, 2), "vx": pick(1, 3), "ty": pick(2, 3), "tx": pick(2, 4), "iy": pick(1, 2), "ix": pick(1, 3)}
            | {"kk": pick(2, 4)},
            random.random() < 0.8,
        ),
        lambda: stencil(pick(1, 9), pick(1, 9), pick(1, 4), pick(1, 4)),
        lambda: softmax(pick(1, 3), pick(1, 20), pick(1, 9)),
        lambda: reversal(pick(1, 4), random.choice([1, 2, 5, 8, 33, 64])),
        lambda: row_sum(
            pick(1, 7), pick(1, 80), pick(1, 3), random.choice([1, 2, 5, 8, 9, 16, 32, 33, 48]), random.random() < 0.5
        ),
        lambda: nested_sums(pick(1, 9), pick(2, 9), pick(1, 5), pick(1, 6), pick(2, 5)),
        lambda: argmax(pick(1, 4), pick(1, 20), pick(1, 8)),
    ]
    return random.choice(makers)()
