"""Ops that put tensors together and take them apart along an axis: concatenate, stack, split, tile, repeat."""

from __future__ import annotations

from math import prod
from typing import Any

from xdsl.irdl import BaseAttr

from lamina.dialects.attributes import ExtentsAttr
from lamina.dialects.relay.declare import *


class _Joined(Injective):
    """Any number of tensors of one dtype, put together along `axis`."""

    data = var_operand_def(TensorType)
    axis = int_prop(0)


@irdl_op_definition
class ConcatenateOp(_Joined):
    """The tensors one after the other along `axis`; all other extents agree."""

    name = "relay.concatenate"

    @staticmethod
    def infer_type(*data: TensorInfo, axis: int) -> TensorInfo:
        if not data:
            raise TypeMismatch("takes at least one operand")
        dtype, first = same_dtype(*data), data[0].shape
        if not first:
            raise TypeMismatch("tensors of rank 0 are stacked, not concatenated")
        place = normalize_axis(axis, len(first))
        for t in data[1:]:
            if len(t.shape) != len(first) or [
                a for a, (e, f) in enumerate(zip(t.shape, first, strict=True)) if a != place and e != f
            ]:
                raise TypeMismatch(f"shapes {first} and {t.shape} differ outside axis {place}")
        total = sum(t.shape[place] for t in data)
        return TensorInfo((*first[:place], total, *first[place + 1 :]), dtype)

    @staticmethod
    def te_compute(*data: Tensor, axis: int) -> Tensor:
        return te.joined(data, normalize_axis(axis, data[0].ndim))

    @staticmethod
    def np_ref(*data: Array, axis: int) -> Array:
        return np.concatenate(data, axis)

    @staticmethod
    def samples() -> list[Sample]:
        return [
            sample((2, 3), (4, 3)),
            sample((2, 3, 5), (2, 1, 5), (2, 7, 5), attrs={"axis": 1}),
            sample((2, 3), (2, 2), attrs={"axis": -1}),
            sample((1, 1), (1, 1), attrs={"axis": 1}),
            sample((7,)),
            sample((2, 0), (2, 3), attrs={"axis": 1}),
            sample(((3, 2), "float64"), ((1, 2), "float64")),
            sample(((3,), "int32"), ((5,), "int32")),
            sample(((3,), "int64"), ((5,), "int64"), ((1,), "int64"), ((2,), "int64")),
            sample(((3,), "bool"), ((2,), "bool")),
            sample(((3,), "uint8"), ((2,), "uint8")),
            sample((19,), (13,), finite=False),
            sample((2, 3), (2, 4), error="shapes (2, 3) and (2, 4) differ outside axis 0"),
            sample((2, 3), (2, 3), attrs={"axis": 2}, error="axis 2 is out of range for rank 2"),
            sample((2,), ((2,), "int32"), error="float32 and int32"),
            sample((), (), error="are stacked, not concatenated"),
            sample(error="takes at least one operand"),
        ]

    @staticmethod
    def relay_grad(grads: Values, operands: Values, results: Values, *, axis: int) -> Gradients:
        place, first = normalize_axis(axis, rank_of(results[0])), 0
        parts: list[Any] = []
        for o in operands:
            last = first + shape_of(o)[place]
            parts.append(r.strided_slice(grads[0], begin=(first,), end=(last,), axes=(place,)))
            first = last
        return parts


@irdl_op_definition
class StackOp(_Joined):
    """Tensors of one type side by side along a new axis; a negative one counts from the end of the result's."""

    name = "relay.stack"

    @staticmethod
    def infer_type(*data: TensorInfo, axis: int) -> TensorInfo:
        if not data:
            raise TypeMismatch("takes at least one operand")
        dtype, shape = same_dtype(*data), data[0].shape
        for t in data[1:]:
            if t.shape != shape:
                raise TypeMismatch(f"shapes {shape} and {t.shape} differ")
        place = normalize_axis(axis, len(shape) + 1)
        return TensorInfo((*shape[:place], len(data), *shape[place:]), dtype)

    @staticmethod
    def te_compute(*data: Tensor, axis: int) -> Tensor:
        place = normalize_axis(axis, data[0].ndim + 1)
        shape = [*data[0].shape[:place], len(data), *data[0].shape[place:]]

        def element(*i: Index) -> Any:
            inner = (*i[:place], *i[place + 1 :])
            value = data[-1][inner]
            for n in range(len(data) - 2, -1, -1):
                value = te.select(i[place] <= n, data[n][inner], value)
            return value

        return te.compute(shape, element, "stack")

    @staticmethod
    def np_ref(*data: Array, axis: int) -> Array:
        return np.stack(data, axis)

    @staticmethod
    def samples() -> list[Sample]:
        return [
            sample((2, 3), (2, 3)),
            sample((2, 3), (2, 3), (2, 3), attrs={"axis": 1}),
            sample((2, 3), (2, 3), attrs={"axis": -1}),
            sample((1,), (1,), attrs={"axis": -2}),
            sample((), (), ()),
            sample((7,)),
            sample(((3,), "float64"), ((3,), "float64"), attrs={"axis": 1}),
            sample(((3,), "int32"), ((3,), "int32")),
            sample(((2, 2), "bool"), ((2, 2), "bool")),
            sample((2,), (3,), error="shapes (2,) and (3,) differ"),
            sample((2,), (2,), attrs={"axis": 2}, error="axis 2 is out of range for rank 2"),
            sample(error="takes at least one operand"),
        ]

    @staticmethod
    def relay_grad(grads: Values, operands: Values, results: Values, *, axis: int) -> Gradients:
        place = normalize_axis(axis, rank_of(results[0]))
        return [
            to_shape(r.strided_slice(grads[0], begin=(n,), end=(n + 1,), axes=(place,)), shape_of(o))
            for n, o in enumerate(operands)
        ]


@irdl_op_definition
class SplitOp(RelayOp, fusion_kind=OpPattern.INJECTIVE):
    """The tensor cut along `axis`: into that many equal parts, or before each of the listed indices."""

    name = "relay.split"

    data = operand_def(TensorType)
    indices_or_sections = prop_def(IntegerAttr.constr(i64) | DenseArrayBase.constr(i64) | BaseAttr(ExtentsAttr))
    axis = int_prop(0)
    res = var_result_def(TensorType)

    @staticmethod
    def infer_type(data: TensorInfo, indices_or_sections: int | tuple[int, ...], axis: int) -> tuple[TensorInfo, ...]:
        if not data.shape:
            raise TypeMismatch("a tensor of rank 0 has no axis to split")
        place = normalize_axis(axis, len(data.shape))
        cuts = split_bounds(data.shape[place], indices_or_sections)
        shape = data.shape
        return tuple(TensorInfo((*shape[:place], high - low, *shape[place + 1 :]), data.dtype) for low, high in cuts)

    @staticmethod
    def te_compute(data: Tensor, indices_or_sections: int | tuple[int, ...], axis: int) -> tuple[Tensor, ...]:
        place = normalize_axis(axis, data.ndim)

        def part(low: int, high: int) -> Tensor:
            shape = [*data.shape[:place], high - low, *data.shape[place + 1 :]]
            return te.compute(shape, lambda *i: data[(*i[:place], i[place] + low, *i[place + 1 :])], "split")

        return tuple(part(*cut) for cut in split_bounds(data.shape[place], indices_or_sections))

    @staticmethod
    def np_ref(data: Array, indices_or_sections: int | tuple[int, ...], axis: int) -> list[Array]:
        return np.split(data, indices_or_sections, axis)

    @staticmethod
    def samples() -> list[Sample]:
        return [
            sample((6, 5), attrs={"indices_or_sections": 3}),
            sample((2, 7), attrs={"indices_or_sections": (3, 5), "axis": 1}),
            sample((2, 3, 4), attrs={"indices_or_sections": 2, "axis": -1}),
            sample((1, 3), attrs={"indices_or_sections": 1}),
            sample((5,), attrs={"indices_or_sections": (1,)}),
            sample((5,), attrs={"indices_or_sections": (0, 2, 2)}),
            sample(((4, 3), "float64"), attrs={"indices_or_sections": 4}),
            sample(((3, 4), "int32"), attrs={"indices_or_sections": (1,), "axis": -2}),
            sample(((4,), "bool"), attrs={"indices_or_sections": 2}),
            sample((7,), attrs={"indices_or_sections": 2}, error="extent 7 does not divide into 2 equal parts"),
            sample((7,), attrs={"indices_or_sections": 0}, error="does not divide into 0 equal parts"),
            sample((7,), attrs={"indices_or_sections": (5, 3)}, error="indices [5, 3] do not ascend within 0 .. 7"),
            sample((7,), attrs={"indices_or_sections": 7, "axis": 1}, error="axis 1 is out of range for rank 1"),
            sample((), attrs={"indices_or_sections": 1}, error="rank 0"),
        ]

    @staticmethod
    def relay_grad(grads: Values, operands: Values, results: Values, *, axis: int, **_: Any) -> Gradients:
        parts = [zeros(v) if g is None else g for g, v in zip(grads, results, strict=True)]
        return [r.concatenate(*parts, axis=axis)]


def split_bounds(extent: int, indices_or_sections: int | tuple[int, ...]) -> list[tuple[int, int]]:
    """(first, beyond last) of each part of an axis."""
    if isinstance(indices_or_sections, int):
        parts = indices_or_sections
        if parts <= 0 or extent % parts:
            raise TypeMismatch(f"extent {extent} does not divide into {parts} equal parts")
        return [(n * (extent // parts), (n + 1) * (extent // parts)) for n in range(parts)]
    edges = [0, *indices_or_sections, extent]
    if edges != sorted(edges):
        raise TypeMismatch(f"indices {list(indices_or_sections)} do not ascend within 0 .. {extent}")
    return list(zip(edges, edges[1:], strict=False))


@irdl_op_definition
class TileOp(RelayOp, fusion_kind=OpPattern.BROADCAST, exact=True):
    """The tensor repeated as a whole `reps[n]` times along axis n; the shorter of shape and reps is led by ones."""

    name = "relay.tile"

    data = operand_def(TensorType)
    reps = ints_prop()
    result = result_def(TensorType)

    @staticmethod
    def infer_type(data: TensorInfo, reps: tuple[int, ...]) -> TensorInfo:
        if [r for r in reps if r < 0]:
            raise TypeMismatch(f"reps {list(reps)} has a negative count")
        return TensorInfo(tiled_shape(data.shape, reps), data.dtype)

    @staticmethod
    def te_compute(data: Tensor, reps: tuple[int, ...]) -> Tensor:
        shape = tiled_shape(data.shape, reps)

        ends = shape[len(shape) - data.ndim :]

        def element(*i: Index) -> Any:
            inner = i[len(shape) - data.ndim :]
            # What is not repeated is read as it lies: a size divides no index.
            once = [is_symbolic(e) and surely_equal(e, r) for e, r in zip(data.shape, ends, strict=True)]
            return data[tuple(p if o else p % e for p, e, o in zip(inner, data.shape, once, strict=True))]

        if te.has_no_elements(shape):
            return te.compute(shape, lambda *i: te.const(0, data.dtype), "tile")
        return te.compute(shape, element, "tile")

    @staticmethod
    def np_ref(data: Array, reps: tuple[int, ...]) -> Array:
        return np.tile(data, reps)

    @staticmethod
    def samples() -> list[Sample]:
        return [
            sample((2, 3), attrs={"reps": (2, 3)}),
            sample((2, 3), attrs={"reps": (2,)}),
            sample((3,), attrs={"reps": (2, 1, 2)}),
            sample((1,), attrs={"reps": (5,)}),
            sample((), attrs={"reps": (3,)}),
            sample((2, 3), attrs={"reps": (1, 0)}),
            sample(((2, 3), "float64"), attrs={"reps": ()}),
            sample(((3, 1), "int32"), attrs={"reps": (1, 4)}),
            sample(((3,), "bool"), attrs={"reps": (2,)}),
            sample((3,), attrs={"reps": (-1,)}, error="reps [-1] has a negative count"),
        ]

    @staticmethod
    def relay_grad(grads: Values, operands: Values, results: Values, *, reps: tuple[int, ...]) -> Gradients:
        (x,) = operands
        rank = max(len(reps), rank_of(x))
        shape, times = (1,) * (rank - rank_of(x)) + shape_of(x), (1,) * (rank - len(reps)) + reps
        apart = to_shape(grads[0], [e for pair in zip(times, shape, strict=True) for e in pair])
        return [to_shape(r.sum(apart, axis=tuple(range(0, 2 * rank, 2))) if rank else apart, shape_of(x))]


def tiled_shape(shape: tuple[int, ...], reps: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of the tiled tensor."""
    rank = max(len(shape), len(reps))
    extents = (1,) * (rank - len(shape)) + shape
    counts = (1,) * (rank - len(reps)) + reps
    return tuple(prod(pair) for pair in zip(extents, counts, strict=True))


@irdl_op_definition
class RepeatOp(RelayOp, fusion_kind=OpPattern.BROADCAST):
    """Each slice along `axis` repeated `repeats` times on the spot."""

    name = "relay.repeat"

    data = operand_def(TensorType)
    repeats = int_prop()
    axis = int_prop(0)
    result = result_def(TensorType)

    @staticmethod
    def infer_type(data: TensorInfo, repeats: int, axis: int) -> TensorInfo:
        if not data.shape:
            raise TypeMismatch("a tensor of rank 0 has no axis to repeat along")
        if repeats < 1:
            raise TypeMismatch(f"repeats is {repeats}, at least 1 is needed")
        place, shape = normalize_axis(axis, len(data.shape)), data.shape
        return TensorInfo((*shape[:place], shape[place] * repeats, *shape[place + 1 :]), data.dtype)

    @staticmethod
    def te_compute(data: Tensor, repeats: int, axis: int) -> Tensor:
        place = normalize_axis(axis, data.ndim)
        shape = [*data.shape[:place], data.shape[place] * repeats, *data.shape[place + 1 :]]
        return te.compute(shape, lambda *i: data[(*i[:place], i[place] // repeats, *i[place + 1 :])], "repeat")

    @staticmethod
    def np_ref(data: Array, repeats: int, axis: int) -> Array:
        return np.repeat(data, repeats, axis)

    @staticmethod
    def samples() -> list[Sample]:
        return [
            sample((2, 3), attrs={"repeats": 2}),
            sample((2, 3), attrs={"repeats": 3, "axis": 1}),
            sample((2, 3, 5), attrs={"repeats": 2, "axis": -2}),
            sample((1,), attrs={"repeats": 7}),
            sample((3, 1), attrs={"repeats": 1, "axis": -1}),
            sample(((2, 3), "float64"), attrs={"repeats": 2}),
            sample(((2, 3), "int32"), attrs={"repeats": 2, "axis": 1}),
            sample(((3,), "bool"), attrs={"repeats": 3}),
            sample((3,), attrs={"repeats": 0}, error="repeats is 0, at least 1 is needed"),
            sample((3,), attrs={"repeats": 2, "axis": 1}, error="axis 1 is out of range for rank 1"),
            sample((), attrs={"repeats": 2}, error="rank 0"),
        ]

    @staticmethod
    def relay_grad(grads: Values, operands: Values, results: Values, *, repeats: int, axis: int) -> Gradients:
        (x,) = operands
        shape, place = shape_of(x), normalize_axis(axis, rank_of(x))
        apart = to_shape(grads[0], (*shape[: place + 1], repeats, *shape[place + 1 :]))
        return [r.sum(apart, axis=(place + 1,))]
