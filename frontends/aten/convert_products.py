"""Matrix products, sums of products, and attention."""

from __future__ import annotations

import math
from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from lamina.dialects.dtypes import is_float
from lamina.dialects.infos import is_symbolic
from lamina.frontends.aten.builder import AtenBuilder
from lamina.frontends.aten.table import aten_op
from lamina.frontends.builder import Value


def matmul_of(b: AtenBuilder, x: Value, y: Value) -> Value:
    """numpy.matmul: vectors are rows on the left and columns on the right, leading axes broadcast."""
    if not x.rank or not y.rank:
        raise b.fail("a scalar is no matrix")
    if 0 in x.shape or 0 in y.shape:
        rows, columns = x.shape[-2:-1], y.shape[-1:] if y.rank > 1 else ()
        return b.zeros((*b.common_shape(x.shape[:-2], y.shape[:-2]), *rows, *columns), x.dtype)
    if y.rank == 1:
        column = b.reshape(y, (1, y.shape[0]))
        lead = x.shape[:-1]
        rows = b.contraction("nn.dense", b.reshape(x, (prod(lead), x.shape[-1])), column, units=1)
        return b.reshape(rows, lead)
    if x.rank == 1:
        found = matmul_of(b, b.reshape(x, (1, x.shape[0])), y)
        return b.reshape(found, (*found.shape[:-2], found.shape[-1]))
    if y.rank == 2:
        if x.rank == 2:
            return _matrices(b, x, y)
        found = _matrices(b, _rows(b, x), y)
        return b.reshape(found, (*x.shape[:-1], y.shape[1]))
    return b.matrices(x, y)


def _matrices(b: AtenBuilder, x: Value, y: Value) -> Value:
    """The product of rows and a matrix; a constant one on the right is a weight, which kernels want as [N, K]."""
    if y.array is None and x.rank == 2:
        return b.contraction("nn.matmul", x, y)
    return b.contraction("nn.dense", x, b.op("transpose", y, axes=[1, 0]), units=y.shape[1])


def _rows(b: AtenBuilder, x: Value) -> Value:
    """A stack of matrices as the rows of one; extents that only a run tells stay apart, or shapes would be divided."""
    lead = x.shape[:-1]
    return x if any(map(is_symbolic, lead)) else b.reshape(x, (prod(lead), x.shape[-1]))


@aten_op("matmul", "mm", "bmm", "mv", "dot", "vdot", "linalg_matmul")
def matmul(b: AtenBuilder, self: Value, other: Value) -> Value:
    return matmul_of(b, self, other)


@aten_op("linear")
def linear(b: AtenBuilder, input: Value, weight: Value, bias: Value | None = None) -> Value:
    if weight.rank == 1:
        found = matmul_of(b, input, weight)
        return found if bias is None else b.add(found, bias)
    if 0 in input.shape or 0 in weight.shape:
        found = b.zeros((*input.shape[:-1], weight.shape[0]), input.dtype)
        return found if bias is None else b.add(found, bias)
    lead = input.shape[:-1]
    found = b.contraction("nn.dense", _rows(b, input), weight, units=weight.shape[0])
    if bias is not None:
        last = found.rank - 1
        found = b.op("nn.bias_add", found, bias, axis=last) if bias.shape == (weight.shape[0],) else b.add(found, bias)
    return b.reshape(found, (*lead, weight.shape[0]))


def _plus(b: AtenBuilder, x: Value, product: Value, beta: Any, alpha: Any) -> Value:
    """beta x + alpha product."""
    if alpha != 1:
        product = b.mul(product, alpha)
    if beta == 0:
        return b.broadcast(product, b.common_shape(x.shape, product.shape))
    if beta == 1 and x.shape == product.shape[-1:] and product.rank == 2 and is_float(product.dtype):
        return b.op("nn.bias_add", product, x, axis=1)
    return b.add(x if beta == 1 else b.mul(x, beta), product)


@aten_op("addmm", "addmv", "baddbmm")
def addmm(b: AtenBuilder, self: Value, mat1: Value, mat2: Value, *, beta: Any = 1, alpha: Any = 1) -> Value:
    return _plus(b, self, matmul_of(b, mat1, mat2), beta, alpha)


@aten_op("addbmm")
def addbmm(b: AtenBuilder, self: Value, batch1: Value, batch2: Value, *, beta: Any = 1, alpha: Any = 1) -> Value:
    product = matmul_of(b, batch1, batch2)
    return _plus(b, self, b.op("sum", product, axis=[0]), beta, alpha)


@aten_op("outer", "ger")
def outer(b: AtenBuilder, self: Value, vec2: Value) -> Value:
    x, y = b.common(self, vec2)
    column = b.reshape(x, (x.shape[0], 1))
    return b.op("logical_and", column, y) if x.dtype == "bool" else b.mul(column, y)


@aten_op("addr")
def addr(b: AtenBuilder, self: Value, vec1: Value, vec2: Value, *, beta: Any = 1, alpha: Any = 1) -> Value:
    x, *_ = b.common(self, vec1, vec2)
    product = b.tensor(outer(b, vec1, vec2), x.dtype)
    if x.dtype == "bool":
        return b.op("logical_or", x, product) if beta and alpha else product if alpha else x
    return _plus(b, x, product, beta, alpha)


@aten_op("inner")
def inner(b: AtenBuilder, self: Value, other: Value) -> Value:
    if not self.rank or not other.rank:
        return b.mul(self, other)
    x = b.reshape(self, (prod(self.shape[:-1]), self.shape[-1]))
    y = b.reshape(other, (prod(other.shape[:-1]), other.shape[-1]))
    found = b.contraction("nn.dense", x, y, units=y.shape[0]) if 0 not in (*x.shape, *y.shape) else matmul_of(
        b, x, b.swapped(y))  # fmt: skip
    return b.reshape(found, (*self.shape[:-1], *other.shape[:-1]))


@aten_op("linalg_vecdot")
def vecdot(b: AtenBuilder, x: Value, y: Value, *, dim: int = -1) -> Value:
    product = b.mul(*b.common(x, y))
    return b.op("sum", product, axis=[b.axis(dim, product.rank)])


@aten_op("kron")
def kron(b: AtenBuilder, self: Value, other: Value) -> Value:
    x, y = b.common(self, other)
    rank = max(x.rank, y.rank)
    xs, ys = ((*[1] * (rank - v.rank), *v.shape) for v in (x, y))
    left = b.reshape(x, [e for pair in zip(xs, [1] * rank, strict=True) for e in pair])
    right = b.reshape(y, [e for pair in zip([1] * rank, ys, strict=True) for e in pair])
    return b.reshape(b.mul(left, right), [i * j for i, j in zip(xs, ys, strict=True)])


@aten_op("tensordot")
def tensordot(b: AtenBuilder, self: Value, other: Value, dims_self: Any, dims_other: Any) -> Value:
    left, right = ([b.axis(a, v.rank) for a in b.ints(d)] for v, d in ((self, dims_self), (other, dims_other)))
    for p, q in zip(left, right, strict=True):
        if self.shape[p] != other.shape[q]:
            if 1 not in (self.shape[p], other.shape[q]):
                raise b.fail(f"axes of {self.shape[p]} and {other.shape[q]} elements do not contract")
            # What meets one element is summed away before.
            if self.shape[p] == 1:
                other = b.op("sum", other, axis=[q], keepdims=True)
            else:
                self = b.op("sum", self, axis=[p], keepdims=True)
    x_rest = [a for a in range(self.rank) if a not in left]
    y_rest = [a for a in range(other.rank) if a not in right]
    x, y = b.transpose(self, [*x_rest, *left]), b.transpose(other, [*right, *y_rest])
    shape = [self.shape[a] for a in x_rest], [other.shape[a] for a in y_rest]
    inner_ = prod(self.shape[a] for a in left)
    product = matmul_of(b, b.reshape(x, (prod(shape[0]), inner_)), b.reshape(y, (inner_, prod(shape[1]))))
    return b.reshape(product, [*shape[0], *shape[1]])


@aten_op("einsum")
def einsum(b: AtenBuilder, equation: str, tensors: Sequence[Value], *, path: Any = None) -> Value:
    if any(0 in t.shape or t.dtype == "bool" for t in tensors):
        raise b.unsupported("a sum of products of nothing is not supported")
    values = list(tensors)
    dtype = values[0].dtype
    labels, arrow, kept = equation.partition("->")
    summed = any((c not in kept) if arrow else labels.count(c) > 1 for c in labels)
    if summed and len(values) == 1 and not is_float(dtype):
        values, dtype = [b.tensor(values[0], "int64")], "int64"  # as of a sum
    if dtype in ("float16", "bfloat16"):
        values = [b.tensor(v, "float32") for v in values]
    return b.tensor(b.op("einsum", *values, equation=equation.replace(" ", "")), dtype)


@aten_op("chain_matmul", "linalg_multi_dot")
def chain_matmul(b: AtenBuilder, matrices: Sequence[Value]) -> Value:
    found = matrices[0]
    for m in matrices[1:]:
        found = matmul_of(b, found, m)
    return found


@aten_op("bilinear")
def bilinear(b: AtenBuilder, input1: Value, input2: Value, weight: Value, bias: Value | None = None) -> Value:
    """sum over i, j of x[i] w[o, i, j] y[j]."""
    lead = input1.shape[:-1]
    x = b.reshape(input1, (prod(lead), input1.shape[-1]))
    y = b.reshape(input2, (prod(lead), input2.shape[-1]))
    out, n, m = weight.shape
    rows = matmul_of(b, x, b.reshape(b.transpose(weight, (1, 0, 2)), (n, out * m)))
    parts = b.mul(b.reshape(rows, (prod(lead), out, m)), b.reshape(y, (prod(lead), 1, m)))
    found = b.reshape(b.op("sum", parts, axis=[2]), (*lead, out))
    return found if bias is None else b.add(found, bias)


@aten_op("_trilinear")
def trilinear(b: AtenBuilder, i1: Value, i2: Value, i3: Value, expand1: Any, expand2: Any, expand3: Any, sumdim: Any,
              unroll_dim: int = 1) -> Value:  # fmt: skip
    """The product of three tensors with axes added to each, summed over axes."""
    made: list[Value] = []
    for x, axes in zip((i1, i2, i3), (expand1, expand2, expand3), strict=True):
        for axis in sorted(b.ints(axes)):
            x = b.op("expand_dims", x, axis=axis)
        made.append(x)
    product = b.mul(b.mul(made[0], made[1]), made[2])
    axes = b.ints(sumdim)
    return b.op("sum", product, axis=axes) if axes else product


@aten_op("_pdist_forward")
def pdist(b: AtenBuilder, self: Value, p: float = 2.0) -> Value:
    """The distances of each pair of rows, in the order of a triangle."""
    from lamina.frontends.aten.convert_reduce import norm_of

    first, second = np.triu_indices(self.shape[0], 1)
    if not first.size:
        return b.zeros((0,), self.dtype)
    rows = [b.op("take", self, b.constant(v.astype(np.int64)), axis=0, mode="clip") for v in (first, second)]
    return norm_of(b, b.sub(rows[0], rows[1]), float(p), [1], False)


@aten_op("linalg_cross", "cross")
def cross(b: AtenBuilder, self: Value, other: Value, dim: int | None = None) -> Value:
    x, y = b.common(self, other)
    shape = b.common_shape(x.shape, y.shape)
    x, y = b.broadcast(x, shape), b.broadcast(y, shape)
    axis = next(a for a, e in enumerate(shape) if e == 3) if dim is None and b.call is not None and (
        b.call.packet == "cross") else b.axis(-1 if dim is None else dim, x.rank)  # fmt: skip

    def turned(v: Value, by: int) -> Value:
        parts = b.ops("split", v, indices_or_sections=3, axis=axis)
        return b.op("concatenate", *(parts[(k + by) % 3] for k in range(3)), axis=axis)

    return b.sub(b.mul(turned(x, 1), turned(y, 2)), b.mul(turned(x, 2), turned(y, 1)))


@aten_op("_cdist_forward", "cdist", "_euclidean_dist")
def cdist(b: AtenBuilder, x1: Value, x2: Value, p: float = 2.0, compute_mode: Any = None) -> Value:
    """The distances of rows, each pair by its difference."""
    from lamina.frontends.aten.convert_reduce import norm_of

    if 0 in (*x1.shape, *x2.shape):
        lead = b.common_shape(x1.shape[:-2], x2.shape[:-2])
        return b.zeros((*lead, x1.shape[-2], x2.shape[-2]), x1.dtype)
    x = b.op("expand_dims", x1, axis=x1.rank - 1)
    y = b.op("expand_dims", x2, axis=x2.rank - 2)
    apart = b.sub(x, y)
    return norm_of(b, apart, float(p), [apart.rank - 1], False)


# -- attention -------------------------------------------------------------------------------------


def attended(b: AtenBuilder, query: Value, key: Value, value: Value, mask: Value | None, is_causal: bool,
             scale: float | None) -> tuple[Value, Value]:  # fmt: skip
    """softmax(query keys^T * scale + mask) values of stacks [..., S, H], and the scores before the softmax.

    The ops are those that `cpu-fuse-attention` makes one kernel of. A row without a place that counts is zero.
    """
    factor = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    dtype = query.dtype
    wide = "float32" if dtype in ("float16", "bfloat16") else dtype
    q, k, v = (b.tensor(t, wide) for t in (query, key, value))
    batch = b.common_shape(*(t.shape[:-2] for t in (q, k, v)))
    q, k, v = (b.broadcast(t, (*batch, *t.shape[-2:])) for t in (q, k, v))
    rows, columns = q.shape[-2], k.shape[-2]
    count = prod(batch)
    q, k, v = (b.reshape(t, (count, *t.shape[-2:])) for t in (q, k, v))
    scores = b.reshape(b.op("nn.batch_matmul", q, k, transpose_b=True), (*batch, rows, columns))
    scores = b.mul(scores, factor)
    if is_causal:
        seen = b.triangle(rows, columns)
        scores = b.add(scores, b.choose(seen, b.tensor(0.0, wide), -math.inf))
    if mask is not None:
        bias = mask if mask.dtype != "bool" else b.choose(mask, b.tensor(0.0, wide), -math.inf)
        scores = b.add(scores, b.tensor(bias, wide))
    weights = b.op("nn.softmax", scores, axis=scores.rank - 1)
    if mask is not None and mask.dtype == "bool" or is_causal and columns < 1:
        # A row of which nothing is seen has no softmax; torch gives zeros.
        none = b.op("max", scores, axis=[scores.rank - 1], keepdims=True)
        weights = b.choose(b.one("equal", none, -math.inf), 0.0, weights)
    mixed = b.op("nn.batch_matmul", b.reshape(weights, (count, rows, columns)), v, transpose_b=False)
    return b.tensor(b.reshape(mixed, (*batch, rows, v.shape[-1])), dtype), scores


@aten_op("scaled_dot_product_attention")
def scaled_dot_product_attention(
    b: AtenBuilder, query: Value, key: Value, value: Value, attn_mask: Value | None = None, dropout_p: float = 0.0,
    is_causal: bool = False, *, scale: float | None = None, enable_gqa: bool = False,
) -> Value:  # fmt: skip
    if dropout_p:
        raise b.unsupported("dropping elements at random is not supported", "call eval() on the model")
    if enable_gqa and key.shape[-3] != query.shape[-3]:
        key, value = (b.op("repeat", t, repeats=query.shape[-3] // t.shape[-3], axis=t.rank - 3) for t in (key, value))
    return attended(b, query, key, value, attn_mask, is_causal, scale)[0]


@aten_op("_scaled_dot_product_flash_attention_for_cpu")
def flash_attention(
    b: AtenBuilder, query: Value, key: Value, value: Value, dropout_p: float = 0.0, is_causal: bool = False, *,
    attn_mask: Value | None = None, scale: float | None = None,
) -> tuple[Value, Value]:  # fmt: skip
    """With the logarithm of each row's sum, which its gradient takes."""
    from lamina.frontends.aten.convert_reduce import logsumexp

    if dropout_p:
        raise b.unsupported("dropping elements at random is not supported", "call eval() on the model")
    found, scores = attended(b, query, key, value, attn_mask, is_causal, scale)
    return found, logsumexp(b, scores, [-1])


@aten_op("_scaled_dot_product_flash_attention_for_cpu_backward")
def flash_attention_backward(
    b: AtenBuilder, grad_out: Value, query: Value, key: Value, value: Value, out: Value, logsumexp: Value,
    dropout_p: float, is_causal: bool, *, attn_mask: Value | None = None, scale: float | None = None,
) -> tuple[Value, Value, Value]:  # fmt: skip
    """The gradients of query, key and value; the weights are computed again (Dao et al., 2022, appendix B.4)."""
    factor = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    *batch, rows, _ = query.shape
    columns, count = key.shape[-2], prod(batch)
    q, k, v, g, y = (b.reshape(t, (count, *t.shape[-2:])) for t in (query, key, value, grad_out, out))
    scores = b.mul(b.op("nn.batch_matmul", q, k, transpose_b=True), factor)
    if is_causal:
        seen = b.triangle(rows, columns)
        scores = b.choose(seen, scores, -math.inf)
    if attn_mask is not None:
        wide = b.broadcast(b.tensor(attn_mask, q.dtype), (*batch, rows, columns))
        scores = b.add(scores, b.reshape(wide, (count, rows, columns)))
    weights = b.op("exp", b.sub(scores, b.reshape(logsumexp, (count, rows, 1))))
    to_values = b.op("nn.batch_matmul", b.swapped(weights), g, transpose_b=False)
    to_weights = b.op("nn.batch_matmul", g, v, transpose_b=True)
    mean = b.op("sum", b.mul(g, y), axis=[2], keepdims=True)
    to_scores = b.mul(b.mul(weights, b.sub(to_weights, mean)), factor)
    to_query = b.op("nn.batch_matmul", to_scores, k, transpose_b=False)
    to_key = b.op("nn.batch_matmul", b.swapped(to_scores), q, transpose_b=False)
    return b.reshape(to_query, query.shape), b.reshape(to_key, key.shape), b.reshape(to_values, value.shape)


@aten_op("_native_multi_head_attention")
def native_multi_head_attention(
    b: AtenBuilder, query: Value, key: Value, value: Value, embed_dim: int, num_head: int, qkv_weight: Value,
    qkv_bias: Value, proj_weight: Value, proj_bias: Value, mask: Value | None = None, need_weights: bool = True,
    average_attn_weights: bool = True, mask_type: int | None = None,
) -> tuple[Value, Value | None]:  # fmt: skip
    """Attention of a layer's own projections: what nn.MultiheadAttention is outside of training."""
    if mask is not None:
        hint = "trace the model with torch.backends.mha.set_fastpath_enabled(False)"
        raise b.unsupported("a mask is not supported here", hint)
    weights = b.ops("split", qkv_weight, indices_or_sections=3, axis=0)
    biases = b.ops("split", qkv_bias, indices_or_sections=3, axis=0)
    heads: list[Value] = []
    for x, w, c in zip((query, key, value), weights, biases, strict=True):
        rows = linear(b, x, w, c)
        batch, length, width = rows.shape
        heads.append(b.transpose(b.reshape(rows, (batch, length, num_head, width // num_head)), (0, 2, 1, 3)))
    mixed, scores = attended(b, heads[0], heads[1], heads[2], None, False, None)
    batch, _, length, _ = mixed.shape
    side_by_side = b.reshape(b.transpose(mixed, (0, 2, 1, 3)), (batch, length, embed_dim))
    told: Value | None = None
    if need_weights:
        told = b.op("nn.softmax", scores, axis=3)
        told = b.op("mean", told, axis=[1]) if average_attn_weights else told
    return linear(b, side_by_side, proj_weight, proj_bias), told
