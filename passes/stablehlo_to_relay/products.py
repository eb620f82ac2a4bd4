"""Rules of StableHLO's sums of products: `nn.matmul`, `nn.batch_matmul`, and the convolutions.

Before: %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
          : (tensor<3x8xf32>, tensor<8x16xf32>) -> tensor<3x16xf32>
After:  %0 = relay.nn.matmul %x, %w : (tensor<3x8xf32>, tensor<8x16xf32>) -> tensor<3x16xf32>

The dimensions of a product are put in order, batches first, by a transpose only where the flags of the product do not
say it. A convolution keeps its layouts where Relay has them. One of a dilated input is one of the dilated tensor with
strides 1; one with groups of batches is one with groups of features on the batches side by side.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.ir import SSAValue

from lamina.dialects import relay as r
from lamina.dialects.dtypes import is_float
from lamina.dialects.stablehlo.products import ConvolutionOp, DotGeneralOp
from lamina.passes.rules.rewriting import Rules
from lamina.passes.stablehlo_to_relay import emit
from lamina.passes.stablehlo_to_relay.emit import dtype_of, shape_of, unsupported

products = Rules("stablehlo-to-relay")


@products.lower(DotGeneralOp)
def dot_general(op: DotGeneralOp) -> SSAValue:
    """Before: %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (...) -> tensor<3x16xf32>
    After:  %0 = relay.nn.matmul %x, %w : (tensor<3x8xf32>, tensor<8x16xf32>) -> tensor<3x16xf32>
    """
    info = op.info()
    x, y = op.operands
    xb, yb, xc, yc = op.roles()
    shape_x, shape_y = shape_of(x), shape_of(y)
    xf, yf = ([d for d in range(len(s)) if d not in (*b, *c)] for s, b, c in ((shape_x, xb, xc), (shape_y, yb, yc)))
    depth = prod(shape_x[d] for d in xc)
    out = [shape_x[d] for d in (*xb, *xf)] + [shape_y[d] for d in yf]
    x, y, dtype = _wide(op, x, y, info.dtype)
    if depth == 0 or prod(out) == 0:
        return emit.broadcast(emit.constant(0, info.dtype), out)
    if not xf and not yf and not xb and len(xc) <= 1:
        return emit.cast(emit.total("sum", r.multiply(x, y), range(len(xc))), info.dtype)
    batch = [shape_x[d] for d in xb]
    a, flip_a = _side(x, xb, xf, xc, False)
    b, flip_b = _side(y, yb, yf, yc, True)
    rows, columns = prod(shape_x[d] for d in xf), prod(shape_y[d] for d in yf)
    a = emit.reshape(a, [prod(batch), *((depth, rows) if flip_a else (rows, depth))][0 if xb else 1 :])
    b = emit.reshape(b, [prod(batch), *((columns, depth) if flip_b else (depth, columns))][0 if xb else 1 :])
    if xb:
        found = r.nn.batch_matmul(a, b, out_dtype=dtype, transpose_a=flip_a, transpose_b=flip_b)
    else:
        found = _matrices(a, b, dtype, flip_a, flip_b)
    return emit.cast(emit.reshape(found, out), info.dtype)


def _matrices(a: SSAValue, b: SSAValue, dtype: str, flip_a: bool, flip_b: bool) -> SSAValue:
    if not flip_a and flip_b:
        return r.nn.dense(a, b, units=None, out_dtype=dtype)
    return r.nn.matmul(a, b, units=None, out_dtype=dtype, transpose_a=flip_a, transpose_b=flip_b)


def _side(
    x: SSAValue, batch: Sequence[int], free: Sequence[int], summed: Sequence[int], right: bool
) -> tuple[SSAValue, bool]:
    """A factor with its batches first, and whether its matrices are transposed: [K, M], on the right [N, K]."""
    plain = [*batch, *summed, *free] if right else [*batch, *free, *summed]
    turned = [*batch, *free, *summed] if right else [*batch, *summed, *free]
    if turned == list(range(len(turned))) and turned != plain:
        return x, True
    return emit.transpose(x, plain), False


def _wide(op: DotGeneralOp | ConvolutionOp, x: SSAValue, y: SSAValue, dtype: str) -> tuple[SSAValue, SSAValue, str]:
    """Factors of one type, and the type that their products are summed in."""
    if dtype_of(x) != dtype_of(y):
        x, y = emit.cast(x, dtype), emit.cast(y, dtype)
    here = dtype_of(x)
    if here == "bool":
        return emit.cast(x, "int32"), emit.cast(y, "int32"), "int32"
    if here in ("float16", "bfloat16"):
        return x, y, "float32"
    if not is_float(here) and here != dtype:
        x, y = emit.cast(x, dtype), emit.cast(y, dtype)
    return x, y, dtype if is_float(here) == is_float(dtype) else dtype_of(x)


# -- convolutions -----------------------------------------------------------------------------------

_SPATIAL = {1: "W", 2: "HW", 3: "DHW"}
_DATA = {1: ("NCW", "NWC"), 2: ("NCHW", "NHWC"), 3: ("NCDHW", "NDHWC")}
_KERNEL = {1: ("OIW", "WIO"), 2: ("OIHW", "HWIO"), 3: ("OIDHW", "DHWIO")}


@products.lower(ConvolutionOp)
def convolution(op: ConvolutionOp) -> SSAValue:
    """Before: %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
              window = {pad = [[1, 1], [1, 1]]} ...
    After:  %0 = relay.nn.conv2d %x, %w {data_layout = "NHWC", kernel_layout = "HWIO", padding = [1, 1, 1, 1]} ...
    """
    info, dims, rank = op.info(), op.dims, op.dims.spatial
    if rank not in _DATA:
        return _plain(op) if rank == 0 else _refuse(op, rank)
    if prod(info.shape) == 0 or prod(shape_of(op.lhs)) == 0 or prod(shape_of(op.rhs)) == 0:
        return emit.broadcast(emit.constant(0, info.dtype), info.shape)
    x, w, dtype = _wide(op, op.lhs, op.rhs, info.dtype)
    groups = op.number("feature_group_count", 1)
    x, layout = _ordered(x, dims.input, "bf", "NC", _DATA[rank])
    batches = op.number("batch_group_count", 1)
    if batches > 1:
        x = _batches_as_channels(x, layout, batches)
        groups = batches
    w, kernel = _ordered(w, dims.kernel, "oi", "OI", _KERNEL[rank])
    if any(op.window("window_reversal", 0)):
        for n, flip in enumerate(op.window("window_reversal", 0)):
            w = r.reverse(w, axis=kernel.index(_SPATIAL[rank][n])) if flip else w
    x, pads = _dilated(op, x, layout)
    conv = {1: r.nn.conv1d, 2: r.nn.conv2d, 3: r.nn.conv3d}[rank]
    found = conv(
        x, w, strides=op.window("window_strides"), padding=pads, dilation=op.window("rhs_dilation"), groups=groups,
        data_layout=layout, kernel_layout=kernel, out_layout="", out_dtype=dtype,
    )  # fmt: skip
    letters = {"b": "N", "f": "C"} | {str(n): _SPATIAL[rank][n] for n in range(rank)}
    found = emit.transpose(found, [layout.index(letters[role]) for role in dims.output])
    return emit.cast(found, info.dtype)


def _refuse(op: ConvolutionOp, rank: int) -> SSAValue:
    raise unsupported(op, f"{rank} spatial dimensions; there are convolutions of up to 3")


def _plain(op: ConvolutionOp) -> SSAValue:
    """Without a spatial dimension it is a product of matrices."""
    if op.number("feature_group_count", 1) > 1 or op.number("batch_group_count", 1) > 1:
        raise unsupported(op, "groups without a spatial dimension")
    x, w, dtype = _wide(op, op.lhs, op.rhs, op.info().dtype)
    x = emit.transpose(x, [op.dims.input.index(c) for c in "bf"])
    w = emit.transpose(w, [op.dims.kernel.index(c) for c in "io"])
    found = r.nn.matmul(x, w, units=None, out_dtype=dtype, transpose_a=False, transpose_b=False)
    return emit.cast(emit.transpose(found, ["bf".index(c) for c in op.dims.output]), op.info().dtype)


def _ordered(
    x: SSAValue, roles: Sequence[str], wanted: str, letters: str, layouts: tuple[str, str]
) -> tuple[SSAValue, str]:
    """A tensor in one of two layouts, the one that it has or the first."""
    spatial = layouts[0][2:]
    names = dict(zip(wanted, letters, strict=True)) | {str(n): spatial[n] for n in range(len(spatial))}
    have = "".join(names[role] for role in roles)
    if have in layouts:
        return x, have
    return emit.transpose(x, [have.index(a) for a in layouts[0]]), layouts[0]


def _batches_as_channels(x: SSAValue, layout: str, groups: int) -> SSAValue:
    """Parts of the batch side by side as channels: batch g of part n goes to channels g."""
    n, c = layout.index("N"), layout.index("C")
    shape = list(shape_of(x))
    split = [*shape[:n], groups, shape[n] // groups, *shape[n + 1 :]]
    order = [d for d in range(len(split)) if d != n]
    at = order.index(c + 1)
    order.insert(at, n)
    shape[n] //= groups
    shape[c] *= groups
    return emit.reshape(emit.transpose(emit.reshape(x, split), order), shape)


def _dilated(op: ConvolutionOp, x: SSAValue, layout: str) -> tuple[SSAValue, tuple[int, ...]]:
    """The input with what stands between its elements, and the padding; a negative one is cut off before."""
    rank, spread, pads = op.dims.spatial, op.window("lhs_dilation"), op.pads()
    axes = [layout.index(a) for a in _SPATIAL[rank]]
    if any(n > 1 for n in spread):
        steps = [1] * len(layout)
        for axis, n in zip(axes, spread, strict=True):
            steps[axis] = n
        x = r.nn.dilate(x, strides=tuple(steps), dilation_value=0.0)
    if any(n < 0 for pair in pads for n in pair):
        widths = [0] * 2 * len(layout)
        for axis, pair in zip(axes, pads, strict=True):
            widths[2 * axis : 2 * axis + 2] = [min(n, 0) for n in pair]
        x = r.nn.pad(x, pad_width=tuple(widths), pad_value=0.0, pad_mode="constant")
    kept = [[max(n, 0) for n in pair] for pair in pads]
    return x, tuple([k[0] for k in kept] + [k[1] for k in kept])
