"""Attention of several heads: softmax(q k^T scale + bias) v, the heads beside each other in each row."""

from __future__ import annotations

from typing import Any, ClassVar

from lamina.dialects.infos import is_always
from lamina.dialects.relay.contraction import matmul
from lamina.dialects.relay.declare import *


@irdl_op_definition
class ContribAttentionOp(Opaque, precision=Precision.NEVER):
    """y[b, i, h*E + c] = sum over j of p[b, h, i, j] v[b, j, h*E + c], with p the softmax over j of
    scale * (sum over d of q[b, i, h*D + d] k[b, j, h*D + d]) + bias[b, h, i, j].

    Query [B, S, heads*D], key [B, T, heads*D], value [B, T, heads*E] -> [B, S, heads*E]; the scale is one number, the
    bias broadcasts to [B, heads, S, T].
    """

    name = "relay.nn.contrib_attention"
    NO_GRADIENT: ClassVar[str] = "cpu-fuse-attention makes it, after gradients are taken"
    query = operand_def()
    key = operand_def()
    value = operand_def()
    scale = operand_def()
    bias = operand_def()
    heads = int_prop()

    @staticmethod
    def infer_type(
        query: TensorInfo, key: TensorInfo, value: TensorInfo, scale: TensorInfo, bias: TensorInfo, *, heads: int
    ) -> TensorInfo:
        dtype = check_dtype(same_dtype(query, key, value, scale, bias), FLOATS)
        if any(len(t.shape) != 3 for t in (query, key, value)):
            raise TypeMismatch("query, key and value must be [batch, rows, heads * depth]")
        (batch, rows, width), (_, others, _), (_, _, depth) = query.shape, key.shape, value.shape
        if heads < 1 or width % heads or depth % heads:
            raise TypeMismatch(f"rows of {width} and {depth} elements are no {heads} heads")
        if key.shape != (batch, others, width) or value.shape[:2] != (batch, others) or not others:
            raise TypeMismatch(f"query {query}, key {key} and value {value} do not fit each other")
        if scale.shape:
            raise TypeMismatch(f"scale must be one number, it is {scale}")
        full = (batch, heads, rows, others)
        if len(bias.shape) > 4 or any(
            not (is_always(e, 1) or e == f or e == 1) for e, f in zip(bias.shape[::-1], full[::-1], strict=False)
        ):
            raise TypeMismatch(f"bias {bias} does not broadcast to {full}")
        return TensorInfo((batch, rows, depth), dtype)

    @staticmethod
    def np_ref(
        query: NDArray[Any], key: NDArray[Any], value: NDArray[Any], scale: Any, bias: NDArray[Any], *, heads: int
    ) -> NDArray[Any]:
        q, k, v = (x.reshape(*x.shape[:2], heads, -1).transpose(0, 2, 1, 3) for x in (query, key, value))
        scores = matmul(q, k.swapaxes(2, 3)) * scale + bias
        e = np.exp(scores - np.max(scores, axis=3, keepdims=True))
        p = e / np.sum(e, axis=3, keepdims=True, dtype=e.dtype)
        return matmul(p, v).transpose(0, 2, 1, 3).reshape(*query.shape[:2], value.shape[2]).astype(query.dtype)

    @staticmethod
    def te_compute(query: Tensor, key: Tensor, value: Tensor, scale: Tensor, bias: Tensor, *, heads: int) -> Tensor:
        (batch, rows, width), (_, others, _), (_, _, columns) = query.shape, key.shape, value.shape
        d, e = width // heads, columns // heads
        shape = (batch, heads, rows, others)
        dim, j = te.reduce_axis(d, "d"), te.reduce_axis(others, "j")

        def lying(b: Index, h: Index, n: Index, j: Index) -> Any:
            return key[b, j, h * d + n]

        keys = te.compute((batch, heads, d, others), lying, "attention_keys")

        def score(b: Index, h: Index, i: Index, j: Index) -> Any:
            return te.sum(query[b, i, h * d + dim] * keys[b, h, dim, j], dim)

        scores = te.compute(shape, score, "attention_scores")

        def biased(*index: Index) -> Any:
            last = index[4 - bias.ndim :]
            at = [0 if is_always(extent, 1) else i for extent, i in zip(bias.shape, last, strict=True)]
            return scores[index] * scale[()] + bias[tuple(at)]

        logits = te.compute(shape, biased, "attention_logits")

        def largest(b: Index, h: Index, i: Index) -> Any:
            return te.max(logits[b, h, i, j], j)

        top = te.compute(shape[:3], largest, "attention_max")
        powers = te.compute(shape, lambda *i: te.exp(logits[i] - top[i[:3]]), "attention_exp")

        def summed(b: Index, h: Index, i: Index) -> Any:
            return te.sum(powers[b, h, i, j], j)

        total = te.compute(shape[:3], summed, "attention_sum")

        def mixed(b: Index, h: Index, i: Index, c: Index) -> Any:
            return te.sum(powers[b, h, i, j] * value[b, j, h * e + c], j)

        mix = te.compute((batch, heads, rows, e), mixed, "attention_mixed")

        def joined(b: Index, i: Index, c: Index) -> Any:
            return mix[b, c // e, i, c % e] / total[b, c // e, i]

        return te.compute((batch, rows, columns), joined, "attention")

    @staticmethod
    def samples() -> list[Sample]:
        x, one = (2, 5, 12), ()
        return [
            sample(x, x, x, one, (2, 1, 1, 5), attrs={"heads": 3}),
            sample(x, (2, 7, 12), (2, 7, 6), one, one, attrs={"heads": 2}),
            sample((1, 17, 8), (1, 17, 8), (1, 17, 8), one, (17, 17), attrs={"heads": 1}),
            sample((1, 1, 4), (1, 1, 4), (1, 1, 4), one, (1, 2, 1, 1), attrs={"heads": 2}),
            sample((1, 3, 32), (1, 33, 32), (1, 33, 34), one, (3, 33), attrs={"heads": 2}),
            sample((1, 2, 3), (1, 4, 3), (1, 4, 3), one, (1, 3, 2, 4), attrs={"heads": 3}),
            sample((3, 8, 16), (3, 19, 16), (3, 19, 16), one, (19,), attrs={"heads": 1}),
            sample(*((s, "float64") for s in (x, x, x, one, (2, 3, 5, 5))), attrs={"heads": 3}),
            sample(x, x, x, one, (1, 4), attrs={"heads": 3}, error="does not broadcast to (2, 3, 5, 5)"),
            sample(x, x, x, one, one, attrs={"heads": 5}, error="no 5 heads"),
            sample(x, (2, 7, 12), x, one, one, attrs={"heads": 3}, error="do not fit each other"),
            sample(x, x, x, (3,), one, attrs={"heads": 3}, error="scale must be one number"),
            sample((5, 12), x, x, one, one, attrs={"heads": 3}, error="[batch, rows, heads * depth]"),
        ]
