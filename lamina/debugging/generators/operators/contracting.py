"""Products of matrices, convolutions, pools."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from lamina.debugging.generators.onnx_graph import CannotDraw, OnnxGraph, Tensor
from lamina.debugging.generators.operators.elementwise import allowed
from lamina.debugging.generators.operators.table import row

MATRICES = ("float32", "float32", "float32", "float64", "float16", "int32", "int64")


@row("MatMul")
def matmul(g: OnnxGraph, name: str) -> None:
    x = g.some(allowed(g, name, MATRICES), rank=(1, 4), bound=16)
    assert x.shape is not None
    k = x.shape[-1]
    columns = g.draw.extent(most=max(1, min(g.draw.products // max(1, x.size), 1024)))
    shape: tuple[int, ...] = (k, columns)
    how = g.draw.integer(0, 4)
    if how == 0:
        shape = (k,)
    elif how == 1 and x.rank > 2:
        shape = (*x.shape[:-2], k, columns)
    elif how == 2 and x.rank > 2:
        shape = (*(1 if g.draw.chance(0.5) else e for e in x.shape[:-2]), k, columns)
    weight = g.draw.chance(0.5) and x.is_float
    y = g.weight(shape, x.dtype, k**-0.5) if weight else g.some(x.dtype, shape=shape, bound=4)
    g.node(name, [x, y], bound=x.bound * 4 if weight else float("inf"))


@row("Gemm")
def gemm(g: OnnxGraph, name: str) -> None:
    x = g.some(allowed(g, name, MATRICES if g.opset >= 9 else MATRICES[:5]), rank=2, bound=16)
    assert x.shape is not None
    a, b = g.draw.chance(0.3), g.draw.chance(0.5)
    k, rows = x.shape if a else x.shape[::-1]
    columns = g.draw.extent(most=max(1, min(g.draw.products // max(1, x.size), 1024)))
    y = g.weight((columns, k) if b else (k, columns), x.dtype, k**-0.5 if x.is_float else 1.0)
    c = None
    if g.draw.chance(0.7) or g.opset < 11:
        shapes = [(rows, columns), (), (columns,), (1, columns), (rows, 1)][: 3 if g.opset < 7 else 5]
        c = g.some(x.dtype, shape=g.draw.choice(shapes), bound=64)
    scales = [None, 0.5, 2.0] if x.is_float else [None]
    g.node(name, [x, y, c], bound=512, transA=int(a), transB=int(b), alpha=g.draw.choice(scales),
           beta=g.draw.choice(scales), broadcast=1 if g.opset < 7 else None)  # fmt: skip


@row("Einsum")
def einsum(g: OnnxGraph, name: str) -> None:
    g.since(name)
    equation = g.draw.choice(
        ("ij,jk->ik", "bij,bjk->bik", "bhid,bhjd->bhij", "bhij,bhjd->bhid", "ij->ji", "ij,ij->i", "bij->b", "i,j->ij",
         "...ij,jk->...ik", "bn,anm,bm->ba", "ii->i")
    )  # fmt: skip
    letters = sorted({c for c in equation if c.isalpha()})
    most = {0: 8, 1: 33, 2: 64}[("tiny", "odd", "real").index(g.draw.sizes)]
    extents = {c: g.draw.extent(most=most) for c in letters}
    terms = equation.split("->")[0].split(",")
    if "..." in equation:
        shapes = [(2, *(extents[c] for c in t if c.isalpha())) if "..." in t else tuple(extents[c] for c in t)
                  for t in terms]  # fmt: skip
    else:
        shapes = [tuple(extents[c] for c in t) for t in terms]
    g.node(name, [g.some("float32", shape=s, bound=4) for s in shapes], equation=equation)


def window(g: OnnxGraph, x: Tensor, most: int = 5) -> dict[str, Any]:
    """Kernel, strides, dilations and pads of a window over the spatial extents of x that fits at least once."""
    assert x.shape is not None
    spatial = x.shape[2:]
    kernel = [g.draw.choice((1, 2, 3, 3, 3, 5, 7)) for _ in spatial]
    kernel = [min(k, most, e + 2) for k, e in zip(kernel, spatial, strict=True)]
    dilations = [g.draw.choice((1, 1, 1, 2)) for _ in spatial]
    reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilations, strict=True)]
    auto = g.draw.choice(("", "", "", "", "SAME_UPPER", "SAME_LOWER", "VALID"))
    found: dict[str, Any] = {"kernel_shape": kernel, "strides": [g.draw.choice((1, 1, 2, 3)) for _ in spatial]}
    if auto in ("", "VALID"):
        least = [max(0, r - e) for r, e in zip(reach, spatial, strict=True)]
        if auto == "VALID" and any(least):
            raise CannotDraw("a window larger than the image")
        if not auto:
            half = [((n + 1) // 2, k // 2) for n, k in zip(least, kernel, strict=True)]
            before = [g.draw.integer(n, max(n, k)) for n, k in half]
            after = [max(n - b, min(b, k - 1)) for n, b, k in zip(least, before, kernel, strict=True)]
            if any(p >= k for p, k in zip([*before, *after], [*kernel, *kernel], strict=True)):
                raise CannotDraw("a window larger than the image")
            found["pads"] = [*before, *after]
    if auto:
        found["auto_pad"] = auto
    if any(d > 1 for d in dilations):
        found["dilations"] = dilations
    return found


@row("Conv")
def conv(g: OnnxGraph, name: str) -> None:
    rank = g.draw.choice((3, 4, 4, 4, 5))
    x = g.some("float32", rank=rank, bound=16, most=g.draw.elements // 2)
    assert x.shape is not None
    found = window(g, x, 7 if rank == 4 else 3)
    kernel: list[int] = found["kernel_shape"]
    c = x.shape[1]
    how = g.draw.integer(0, 5)
    groups = c if how == 0 else g.draw.choice([d for d in range(1, c + 1) if c % d == 0]) if how == 1 else 1
    per_output = int(np.prod(kernel)) * c // groups * int(np.prod(x.shape[2:])) * x.shape[0]
    most = max(1, min(g.draw.products // max(1, per_output), g.draw.elements // max(1, x.size // c), 512) // groups)
    o = groups * g.draw.extent(most=most)
    w = g.weight((o, c // groups, *kernel))
    b = g.weight((o,), scale=1.0) if g.draw.chance(0.6) else None
    g.node(name, [x, w, b], bound=x.bound * 4, group=groups if groups > 1 else None, **found)


@row("ConvTranspose")
def conv_transpose(g: OnnxGraph, name: str) -> None:
    x = g.some("float32", rank=g.draw.choice((3, 4, 4)), bound=16, most=g.draw.elements // 9)
    assert x.shape is not None
    spatial = x.shape[2:]
    kernel = [g.draw.choice((1, 2, 3, 4)) for _ in spatial]
    strides = [g.draw.choice((1, 2, 2, 3)) for _ in spatial]
    if any(k % s for k, s in zip(kernel, strides, strict=True)):
        # Taps that are zeros make its windows whole, which is NaN beside an infinity (docs/numerics.md).
        g.ordinary(x)
    pads = [g.draw.integer(0, max(0, (k - 1) // 2)) for k in kernel]
    c = x.shape[1]
    groups = g.draw.choice([1, 1, 1, c, *(d for d in range(1, c + 1) if c % d == 0)])
    most = max(1, min(g.draw.products // max(1, x.size * int(np.prod(kernel))), 64) // groups)
    o = g.draw.extent(most=most)
    w = g.weight((c, o, *kernel))
    b = g.weight((o * groups,), scale=1.0) if g.draw.chance(0.5) else None
    extra = [g.draw.integer(0, s - 1) for s in strides] if g.draw.chance(0.4) else None
    g.node(name, [x, w, b], bound=x.bound * 4, group=groups, strides=strides, pads=[*pads, *pads],
           output_padding=extra, kernel_shape=kernel if g.draw.chance(0.5) else None)  # fmt: skip


DILATED = {"MaxPool": 10, "AveragePool": 19, "LpPool": 18}
"""The operator set since which a pool has dilations."""
ROUNDED_UP = {"MaxPool": 10, "AveragePool": 10, "LpPool": 18}
"""The operator set since which the number of windows may be rounded up."""

LEFT_OUT = 22
"""The operator set since which ONNX's inference leaves out windows that begin behind the image, as all have done that
run it."""


@row("MaxPool", "AveragePool", "LpPool")
def pool(g: OnnxGraph, name: str) -> None:
    rank = g.draw.choice((3, 4, 4, 4, 5))
    types = allowed(g, name, ("float32", "float32", "float32", "float64", "int8", "uint8"))
    x = g.some(types if name == "MaxPool" else "float32", rank=rank, bound=64)
    found = window(g, x)
    # With both, ONNX's words and its reference differ in the extent that is the same.
    if g.opset < DILATED[name] or "auto_pad" in found or sees_nothing(x, found):
        found.pop("dilations", None)
        check_window(x, found)
    if "SAME" in found.get("auto_pad", ""):
        # Where windows leave gaps less than nothing is padded: onnxruntime refuses that, ONNX's reference begins late.
        found["strides"] = [min(s, k) for s, k in zip(found["strides"], found["kernel_shape"], strict=True)]
    rounded_up = g.opset >= ROUNDED_UP[name] and g.draw.chance(0.3)
    if rounded_up and (g.opset >= LEFT_OUT or not begins_in_padding(x, found)):
        found["ceil_mode"] = 1
    if name == "LpPool":
        found["p"] = norm(g, (1, 2, 3))
    if name == "AveragePool" and g.opset >= 7 and g.draw.chance(0.4):
        found["count_include_pad"] = 1
    outputs = 2 if name == "MaxPool" and g.opset >= 8 and x.is_float and g.draw.chance(0.2) else 1
    values, *_ = g.node(name, [x], outputs, **found)
    values.bound = x.bound * (1 if name != "LpPool" else 8)


def begins_in_padding(x: Tensor, found: Mapping[str, Any]) -> bool:
    """Whether the last window along an axis would begin behind the image, their number rounded up."""
    assert x.shape is not None
    rank = x.rank - 2
    pads: list[int] = found.get("pads", [0] * 2 * rank)
    dilations: list[int] = found.get("dilations", [1] * rank)
    for n, (extent, kernel, stride) in enumerate(
        zip(x.shape[2:], found["kernel_shape"], found["strides"], strict=True)
    ):
        left = extent + pads[n] + pads[n + rank] - (kernel - 1) * dilations[n] - 1
        if -(-left // stride) * stride >= extent + pads[n]:
            return True
    return False


def sees_nothing(x: Tensor, found: Mapping[str, Any]) -> bool:
    """Whether some window has taps in the padding alone: programs differ in the greatest of no elements."""
    assert x.shape is not None
    rank = x.rank - 2
    pads: list[int] = found.get("pads", [0] * 2 * rank)
    dilations: list[int] = found.get("dilations", [1] * rank)
    for n, extent in enumerate(x.shape[2:]):
        reach = range(0, found["kernel_shape"][n] * dilations[n], dilations[n])
        for start in range(-pads[n], extent + pads[n + rank] - reach[-1], found["strides"][n]):
            if not any(0 <= start + tap < extent for tap in reach):
                return True
    return False


def check_window(x: Tensor, found: Mapping[str, Any]) -> None:
    """Raise CannotDraw where no window fits."""
    assert x.shape is not None
    kernel: list[int] = found["kernel_shape"]
    pads: list[int] = found.get("pads", [0] * 2 * (x.rank - 2))
    rank = len(kernel)
    if "auto_pad" not in found and any(e + pads[n] + pads[n + rank] < kernel[n] for n, e in enumerate(x.shape[2:])):
        raise CannotDraw("a window larger than the image")


@row("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool")
def global_pool(g: OnnxGraph, name: str) -> None:
    x = g.some("float32", rank=(3, 5), bound=64)
    g.node(name, [x], bound=x.bound if name != "GlobalLpPool" else float("inf"),
           p=norm(g, (1, 2)) if name == "GlobalLpPool" else None)  # fmt: skip


def norm(g: OnnxGraph, of: Sequence[int]) -> float:
    """The number of a norm: it was a float at first."""
    return g.draw.choice(of) if g.opset >= 2 else float(g.draw.choice(of))


@row("MatMulInteger")
def matmul_integer(g: OnnxGraph, name: str) -> None:
    g.since(name)
    m, k, n = (g.draw.extent(most=256) for _ in range(3))
    a = g.either(g.draw.integers((m, k), 0, 255), "uint8")
    signed = g.draw.chance(0.5)
    b = g.either(g.draw.integers((k, n), -128, 127) if signed else g.draw.integers((k, n), 0, 255),
                 "int8" if signed else "uint8")  # fmt: skip
    zero_a = g.constant(np.asarray(g.draw.integer(0, 255)), "uint8") if g.draw.chance(0.6) else None
    zero_b = g.constant(np.asarray(g.draw.integer(0, 100)), b.dtype) if g.draw.chance(0.4) else None
    g.node(name, [a, b, zero_a, zero_b])
