"""Ops that see the same elements under another shape: reshape, transpose, added and dropped axes, broadcasting.

Slices and gathers are in `indexing.py`, concatenation and repetition in `join.py`, tensors from nothing in
`fill.py`, blocked layouts in `layouts.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from lamina.dialects.relay.declare import *


def resolve_shape(shape: tuple[int, ...], newshape: tuple[int, ...], allowzero: bool) -> tuple[int, ...]:
    """The extents that `newshape` stands for. Raises TypeMismatch where sizes differ.

    Each entry takes an extent of the tensor: 0 copies it (save with `allowzero`), one -1 takes what is left, -2 copies
    all that remain, -3 takes two and gives their product, -4 and the two entries behind it split one.
    """
    resolved: list[int] = []
    taken = 0

    def extents(count: int) -> tuple[int, ...]:
        nonlocal taken
        if taken + count > len(shape):
            wrong = f"newshape {list(newshape)} copies axis {taken + count - 1}"
            raise TypeMismatch(f"{wrong}, the tensor has rank {len(shape)}")
        taken += count
        return shape[taken - count : taken]

    entries = list(newshape)
    while entries:
        entry = entries.pop(0)
        if is_symbolic(entry):  # an extent, no mark
            taken = min(taken + 1, len(shape))
            resolved.append(entry)
        elif entry < -4:
            raise TypeMismatch(f"newshape {list(newshape)} has an extent below -4")
        elif entry == 0 and not allowzero:
            resolved += extents(1)
        elif entry == -2:
            resolved += extents(len(shape) - taken)
        elif entry == -3:
            resolved.append(prod(extents(2)))
        elif entry == -4:
            resolved += _split_extent(extents(1)[0], entries[:2], newshape)
            del entries[:2]
        else:
            # As many as there are: a reshape may lead to more dimensions than it comes from.
            taken = min(taken + 1, len(shape))
            resolved.append(entry)
    free = [n for n, e in enumerate(resolved) if not is_symbolic(e) and e == -1]
    if len(free) > 1:
        raise TypeMismatch(f"newshape {list(newshape)} has more than one -1")
    size = prod(shape)
    if free:
        rest = prod(e for n, e in enumerate(resolved) if n not in free)
        if rest == 0 or size % rest:
            raise TypeMismatch(f"{size} elements of shape {shape} do not fill newshape {list(newshape)}")
        resolved[free[0]] = size // rest
    if prod(resolved) != size:
        raise TypeMismatch(f"{size} elements of shape {shape} do not fill newshape {list(newshape)}")
    return tuple(resolved)


def reshaping(shape: Sequence[int], target: Sequence[int]) -> list[int]:
    """A `newshape` that leads from one shape to another; of numbers only the target itself.

    Extents that depend on symbols are copied, multiplied, split, or are the one that is left over. Raises TypeMismatch
    where no list of numbers says it.
    """
    if not any(is_symbolic(e) for e in target):
        return list(target)
    found: list[int] = []
    taken = n = 0
    while n < len(target):
        here = shape[taken] if taken < len(shape) else None
        if not is_symbolic(target[n]):
            split = n + 1 < len(target) and here is not None and is_symbolic(here) and is_symbolic(target[n + 1])
            if split and here is not None and surely_equal(target[n] * target[n + 1], here):
                found += [-4, target[n], -1]
                n += 1
            else:
                found.append(target[n])
        elif here is not None and surely_equal(target[n], here):
            found.append(0)
        elif taken + 1 < len(shape) and surely_equal(target[n], shape[taken] * shape[taken + 1]):
            found.append(-3)
            taken += 1
        elif here is not None and n + 1 < len(target) and surely_equal(target[n] * target[n + 1], here):
            found += [-4, -1, int(target[n + 1])]
            n += 1
        else:
            found.append(-1)
        taken, n = taken + 1, n + 1
    if resolve_shape(tuple(shape), tuple(found), False) != tuple(target):
        raise TypeMismatch(f"no list of numbers reshapes {tuple(shape)} to {tuple(target)}")
    return found


def _split_extent(extent: int, parts: list[int], newshape: tuple[int, ...]) -> list[int]:
    """The two parts of an extent, one of which may be -1."""
    if len(parts) != 2 or min(parts) < -1 or parts == [-1, -1]:
        raise TypeMismatch(f"newshape {list(newshape)}: behind -4 stand two extents, one of them -1 or none")
    if -1 in parts:
        known = max(parts)
        if not known or extent % known:
            raise TypeMismatch(f"newshape {list(newshape)} splits {extent} by {known}")
        parts = [extent // known if p == -1 else p for p in parts]
    if prod(parts) != extent:
        raise TypeMismatch(f"newshape {list(newshape)} splits {extent} into {parts[0]} x {parts[1]}")
    return parts


def reshape_sample(shape: tuple[int, ...], *newshape: int, dtype: str = "float32", **attrs: Any) -> Sample:
    """A sample of an op with the attribute `newshape`; `attrs` may hold an `error`."""
    error = attrs.pop("error", None)
    return sample((shape, dtype), attrs={"newshape": newshape, **attrs}, error=error)


@irdl_op_definition
class ReshapeOp(Injective, reshapes=True, exact=True):
    """The elements in row-major order under `newshape`: 0 copies an extent, -1 takes what is left, -2 copies all that
    remain, -3 multiplies two, -4 splits one into the two that follow."""

    name = "relay.reshape"

    data = operand_def(TensorType)
    newshape = ints_prop()
    allowzero = bool_prop(False)

    @staticmethod
    def infer_type(data: TensorInfo, newshape: tuple[int, ...], allowzero: bool) -> TensorInfo:
        return TensorInfo(resolve_shape(data.shape, newshape, allowzero), data.dtype)

    @staticmethod
    def te_compute(data: Tensor, newshape: tuple[int, ...], allowzero: bool) -> Tensor:
        return te.reshape(data, resolve_shape(data.shape, newshape, allowzero))

    @staticmethod
    def np_ref(data: Array, newshape: tuple[int, ...], allowzero: bool) -> Array:
        old, new, n = list(data.shape), list[int](), 0
        while n < len(newshape):
            entry = newshape[n]
            if entry == -4:
                first, second = newshape[n + 1 : n + 3]
                extent = old.pop(0)
                new += [extent // second if first == -1 else first, extent // first if second == -1 else second]
                n += 2
            elif entry == -3:
                new.append(old.pop(0) * old.pop(0))
            elif entry == -2:
                new, old = new + old, []
            else:
                front = old.pop(0) if old else 0
                new.append(front if entry == 0 and not allowzero else entry)
            n += 1
        return np.reshape(data, new)

    @staticmethod
    def samples() -> list[Sample]:
        return [
            reshape_sample((2, 3, 5), 6, 5),
            reshape_sample((2, 3, 5), 5, 3, 2),
            reshape_sample((6, 4), 2, 3, 4),
            reshape_sample((2, 3, 5), -1),
            reshape_sample((2, 3, 5), 0, -1),
            reshape_sample((3, 1, 7), 3, 7, dtype="float64"),
            reshape_sample((4, 6), 0, 2, -1, dtype="int32"),
            reshape_sample((1,), dtype="int64"),
            reshape_sample((), 1, 1, dtype="bool"),
            reshape_sample((4, 9), 6, 6, dtype="uint8"),
            reshape_sample((2, 3, 4, 5), 3, 8, 5),
            reshape_sample((3, 0), 0, 7, allowzero=True),
            reshape_sample((3, 0), 2, 0, dtype="int8", allowzero=True),
            reshape_sample((2, 3), 4, 2, error="6 elements of shape (2, 3) do not fill newshape [4, 2]"),
            reshape_sample((2, 3), -1, 4, error="do not fill"),
            reshape_sample((2, 3), -1, -1, error="more than one -1"),
            reshape_sample((2, 3), 6, 1, 0, error="copies axis 2, the tensor has rank 2"),
            reshape_sample((2, 3, 4, 5), -3, -2),
            reshape_sample((2, 3, 4, 5), 0, -3, 5),
            reshape_sample((2, 12, 5), 0, -4, -1, 4, 0),
            reshape_sample((2, 12, 5), -4, 1, 2, -4, 3, -1, -2),
            reshape_sample((2, 3, 4, 5), -1, 0, -3),
            reshape_sample((7,), -2),
            reshape_sample((2, 3), -5, error="below -4"),
            reshape_sample((2, 3), 6, -3, error="copies axis 2, the tensor has rank 2"),
            reshape_sample((6, 3), -4, -1, -1, 0, error="behind -4 stand two extents"),
            reshape_sample((6, 3), -4, 4, -1, 0, error="splits 6 by 4"),
            reshape_sample((6, 3), -4, 2, 2, 0, error="splits 6 into 2 x 2"),
            sample((2, 3), error="attribute 'newshape' is missing"),
        ]

    relay_grad = vjp(lambda dy, x, y: reshaped(dy, x))


@irdl_op_definition
class TransposeOp(Injective, exact=True):
    """Axis n of the result is axis `axes[n]` of the operand; the axes in reverse where the list is empty."""

    name = "relay.transpose"

    data = operand_def(TensorType)
    axes = ints_prop(())

    @staticmethod
    def infer_type(data: TensorInfo, axes: tuple[int, ...]) -> TensorInfo:
        return TensorInfo(tuple(data.shape[a] for a in permutation(axes, len(data.shape))), data.dtype)

    @staticmethod
    def te_compute(data: Tensor, axes: tuple[int, ...]) -> Tensor:
        order = permutation(axes, data.ndim)
        places = [order.index(a) for a in range(data.ndim)]
        shape = [data.shape[a] for a in order]
        return te.compute(shape, lambda *i: data[tuple(i[p] for p in places)], "transpose")

    @staticmethod
    def np_ref(data: Array, axes: tuple[int, ...]) -> Array:
        return np.transpose(data, axes or None)

    @staticmethod
    def samples() -> list[Sample]:
        return [
            sample((2, 3, 5)),
            sample((2, 3, 5), attrs={"axes": (0, 2, 1)}),
            sample((2, 3, 5), attrs={"axes": (-1, 0, 1)}),
            sample((1, 7), attrs={"axes": (1, 0)}),
            sample((2, 3, 4, 5), attrs={"axes": (0, 2, 3, 1)}),
            sample(((3, 2, 4), "float64"), attrs={"axes": (2, 1, 0)}),
            sample(((3, 2), "int32"), attrs={"axes": (0, 1)}),
            sample(((3, 3), "int64")),
            sample(((3, 5), "bool")),
            sample(()),
            sample((2, 3), attrs={"axes": (0, 0)}, error="axes [0, 0] is no permutation of 2 axes"),
            sample((2, 3), attrs={"axes": (0,)}, error="axes [0] is no permutation of 2 axes"),
            sample((2, 3), attrs={"axes": (0, 2)}, error="axis 2 is out of range for rank 2"),
        ]

    @staticmethod
    def relay_grad(grads: Values, operands: Values, results: Values, *, axes: tuple[int, ...]) -> Gradients:
        rank = rank_of(operands[0])
        order = [normalize_axis(a, rank) for a in axes] or list(range(rank))[::-1]
        return [r.transpose(grads[0], axes=[order.index(a) for a in range(rank)])]


def permutation(axes: tuple[int, ...], rank: int) -> tuple[int, ...]:
    """The axes counted from the front, all of them in reverse for an empty list."""
    if not axes:
        return tuple(reversed(range(rank)))
    found = tuple(normalize_axis(a, rank) for a in axes)
    if sorted(found) != list(range(rank)):
        raise TypeMismatch(f"axes {list(axes)} is no permutation of {rank} axes")
    return found


@irdl_op_definition
class ExpandDimsOp(RelayOp, fusion_kind=OpPattern.BROADCAST, reshapes=True, exact=True):
    """`num_newaxis` axes of extent 1 put in at `axis`; a negative axis counts from the end of the result's."""

    name = "relay.expand_dims"

    data = operand_def(TensorType)
    axis = int_prop()
    num_newaxis = int_prop(1)
    result = result_def(TensorType)

    @staticmethod
    def infer_type(data: TensorInfo, axis: int, num_newaxis: int) -> TensorInfo:
        rank = len(data.shape)
        if not -rank - 1 <= axis <= rank:
            raise TypeMismatch(f"axis {axis} is out of range for rank {rank}")
        if num_newaxis < 0:
            raise TypeMismatch(f"num_newaxis is {num_newaxis}")
        place = expanded_axis(axis, rank)
        return TensorInfo((*data.shape[:place], *(1,) * num_newaxis, *data.shape[place:]), data.dtype)

    @staticmethod
    def te_compute(data: Tensor, axis: int, num_newaxis: int) -> Tensor:
        place = expanded_axis(axis, data.ndim)
        shape = [*data.shape[:place], *[1] * num_newaxis, *data.shape[place:]]
        return te.compute(shape, lambda *i: data[(*i[:place], *i[place + num_newaxis :])], "expand_dims")

    @staticmethod
    def np_ref(data: Array, axis: int, num_newaxis: int) -> Array:
        first = axis if axis >= 0 else data.ndim + axis + 1
        for _ in range(num_newaxis):
            data = np.expand_dims(data, first)
        return data

    @staticmethod
    def samples() -> list[Sample]:
        return [
            sample((2, 3, 5), attrs={"axis": 0}),
            sample((2, 3, 5), attrs={"axis": -1}),
            sample((7,), attrs={"axis": 1, "num_newaxis": 2}),
            sample((1, 1), attrs={"axis": -3}),
            sample((), attrs={"axis": 0}),
            sample(((3, 2), "float64"), attrs={"axis": 1, "num_newaxis": 3}),
            sample(((3, 2), "int32"), attrs={"axis": -2}),
            sample(((3,), "bool"), attrs={"axis": 0, "num_newaxis": 0}),
            sample((2, 3), attrs={"axis": 3}, error="axis 3 is out of range for rank 2"),
            sample((2, 3), attrs={"axis": 0, "num_newaxis": -1}, error="num_newaxis is -1"),
        ]

    relay_grad = vjp(lambda dy, x, y: reshaped(dy, x))


def expanded_axis(axis: int, rank: int) -> int:
    """The position of a new axis, counted from the front."""
    return axis if axis >= 0 else rank + axis + 1


@irdl_op_definition
class SqueezeOp(Injective, reshapes=True):
    """The tensor without the axes in `axis`, which have extent 1; without all such axes where it is empty."""

    name = "relay.squeeze"

    data = operand_def(TensorType)
    axis = ints_prop(())

    @staticmethod
    def infer_type(data: TensorInfo, axis: tuple[int, ...]) -> TensorInfo:
        dropped = squeezed_axes(data.shape, axis)
        for a in dropped:
            if data.shape[a] != 1:
                raise TypeMismatch(f"axis {a} has extent {data.shape[a]}, only an axis of extent 1 is dropped")
        return TensorInfo(tuple(e for a, e in enumerate(data.shape) if a not in dropped), data.dtype)

    @staticmethod
    def te_compute(data: Tensor, axis: tuple[int, ...]) -> Tensor:
        dropped = squeezed_axes(data.shape, axis)
        kept = [a for a in range(data.ndim) if a not in dropped]

        def element(*i: Any) -> Any:
            return data[tuple(0 if a in dropped else i[kept.index(a)] for a in range(data.ndim))]

        return te.compute([data.shape[a] for a in kept], element, "squeeze")

    @staticmethod
    def np_ref(data: Array, axis: tuple[int, ...]) -> Array:
        return np.squeeze(data, axis or None)

    @staticmethod
    def samples() -> list[Sample]:
        return [
            sample((1, 3, 1, 5)),
            sample((1, 3, 1, 5), attrs={"axis": (0,)}),
            sample((1, 3, 1, 5), attrs={"axis": (-2,)}),
            sample((1, 3, 1, 5), attrs={"axis": (2, 0)}),
            sample((1, 1)),
            sample((2, 3)),
            sample(((1, 7), "float64"), attrs={"axis": (0,)}),
            sample(((7, 1), "int32"), attrs={"axis": (1,)}),
            sample(((1,), "bool")),
            sample((1, 3), attrs={"axis": (1,)}, error="axis 1 has extent 3"),
            sample((1, 3), attrs={"axis": (2,)}, error="axis 2 is out of range for rank 2"),
        ]

    relay_grad = vjp(lambda dy, x, y: reshaped(dy, x))


def squeezed_axes(shape: tuple[int, ...], axis: tuple[int, ...]) -> tuple[int, ...]:
    """The axes that squeeze drops, counted from the front."""
    if not axis:
        return tuple(a for a, e in enumerate(shape) if e == 1)
    return tuple(normalize_axis(a, len(shape)) for a in axis)


@irdl_op_definition
class BroadcastToOp(RelayOp, fusion_kind=OpPattern.BROADCAST, exact=True):
    """The tensor repeated along its axes of extent 1 and along new leading axes until it has `shape`."""

    name = "relay.broadcast_to"

    data = operand_def(TensorType)
    shape = ints_prop()
    result = result_def(TensorType)

    @staticmethod
    def infer_type(data: TensorInfo, shape: tuple[int, ...]) -> TensorInfo:
        if len(data.shape) > len(shape) or broadcast_shapes(data.shape, shape) != shape:
            raise TypeMismatch(f"shape {data.shape} does not broadcast to {shape}")
        return TensorInfo(shape, data.dtype)

    @staticmethod
    def te_compute(data: Tensor, shape: tuple[int, ...]) -> Tensor:
        return te.compute(shape, lambda *i: data[te.broadcast_index(data, i)], "broadcast_to")

    @staticmethod
    def np_ref(data: Array, shape: tuple[int, ...]) -> Array:
        return np.broadcast_to(data, shape)

    @staticmethod
    def samples() -> list[Sample]:
        return [
            sample((3, 1), attrs={"shape": (2, 3, 5)}),
            sample((), attrs={"shape": (3, 1)}),
            sample((1,), attrs={"shape": (1,)}),
            sample((2, 3), attrs={"shape": (2, 3)}),
            sample(((5,), "float64"), attrs={"shape": (3, 5)}),
            sample(((1, 3), "int32"), attrs={"shape": (7, 3)}),
            sample(((1, 3), "bool"), attrs={"shape": (7, 3)}),
            sample(((1, 1), "int64"), attrs={"shape": (1, 1, 1)}),
            sample((3, 2), attrs={"shape": (3, 5)}, error="do not broadcast"),
            sample((3, 2), attrs={"shape": (2,)}, error="shape (3, 2) does not broadcast to (2,)"),
        ]

    relay_grad = vjp(lambda dy, x, y: collapsed(dy, x))
