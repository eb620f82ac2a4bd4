"""Ops on several index tensors at once: meshgrid, adv_index."""

from __future__ import annotations

from typing import Any

from lamina.dialects.relay.declare import *
from lamina.dialects.relay.shape.indexing import INDEX_DTYPES


@irdl_op_definition
class MeshgridOp(RelayOp, fusion_kind=OpPattern.INJECTIVE):
    """A tensor over all combinations of places for each vector (or scalar): its elements along an axis of its own. With
    `indexing` "xy" the first two axes are exchanged."""

    name = "relay.meshgrid"

    data = var_operand_def(TensorType)
    indexing = str_prop("ij")
    outputs = var_result_def(TensorType)

    @staticmethod
    def infer_type(*data: TensorInfo, indexing: str) -> tuple[TensorInfo, ...]:
        if not data:
            raise TypeMismatch("takes at least one operand")
        if indexing not in ("ij", "xy"):
            raise TypeMismatch(f"indexing {indexing!r} is neither 'ij' nor 'xy'")
        dtype = same_dtype(*data)
        for t in data:
            if len(t.shape) > 1:
                raise TypeMismatch(f"takes vectors and scalars, got shape {t.shape}")
        shape = [t.shape[0] if t.shape else 1 for t in data]
        if indexing == "xy":
            shape[:2] = shape[1::-1]
        return (TensorInfo(tuple(shape), dtype),) * len(data)

    @staticmethod
    def te_compute(*data: Tensor, indexing: str) -> tuple[Tensor, ...]:
        axes = list(range(len(data)))
        if indexing == "xy":
            axes[:2] = axes[1::-1]
        extents = [t.shape[0] if t.ndim else 1 for t in data]
        shape = [extents[a] for a in axes]

        def grid(tensor: Tensor, axis: int) -> Tensor:
            def element(*i: Index) -> Any:
                return tensor[i[axis]] if tensor.ndim else tensor[()]

            return te.compute(shape, element, "meshgrid")

        return tuple(grid(t, axes.index(n)) for n, t in enumerate(data))

    @staticmethod
    def np_ref(*data: Array, indexing: str) -> tuple[Array, ...]:
        kind: Any = indexing
        return tuple(np.copy(t) for t in np.meshgrid(*data, indexing=kind))

    @staticmethod
    def samples() -> list[Sample]:
        def one(*shapes: tuple[int, ...], dtype: str = "float32", **kw: Any) -> Sample:
            error = kw.pop("error", None)
            return sample(*((s, dtype) for s in shapes), attrs=kw, error=error)

        return [
            one((3,), (5,)),
            one((3,), (5,), indexing="xy"),
            one((2,), (3,), (4,)),
            one((2,), (3,), (4,), indexing="xy"),
            one((7,)),
            one((7,), indexing="xy"),
            one((), (3,)),
            one((1,), (1,)),
            one((3,), (5,), dtype="int64"),
            one((3,), (5,), dtype="bool"),
            one((0,), (5,), dtype="float64"),
            one((3,), (2, 2), error="takes vectors and scalars, got shape (2, 2)"),
            one((3,), (5,), indexing="yx", error="indexing 'yx' is neither"),
            sample((3,), ((3,), "int32"), error="float32 and int32"),
        ]

    @staticmethod
    def relay_grad(grads: Values, operands: Values, results: Values, *, indexing: str) -> Gradients:
        axes = list(range(len(operands)))
        if indexing == "xy":
            axes[:2] = axes[1::-1]
        return [
            None if g is None else reshaped(summed_to_axis(g, axes.index(n)), x)
            for n, (g, x) in enumerate(zip(grads, operands, strict=True))
        ]


@irdl_op_definition
class AdvIndexOp(Injective):
    """data[i0, i1, ...]: the first operand at the places that the others, broadcast against each other, name on its
    leading axes. Indices are taken modulo the extent, so that negative ones count from the end."""

    name = "relay.adv_index"

    inputs = var_operand_def(TensorType)

    @staticmethod
    def infer_type(*inputs: TensorInfo) -> TensorInfo:
        if len(inputs) < 2:
            raise TypeMismatch(f"takes a tensor and at least one of indices, got {len(inputs)} operands")
        data, *indices = inputs
        for i in indices:
            check_dtype(i.dtype, INDEX_DTYPES)
        if len(indices) > len(data.shape):
            raise TypeMismatch(f"{len(indices)} indices for a tensor of rank {len(data.shape)}")
        if 0 in data.shape[: len(indices)]:
            raise TypeMismatch("takes elements from an axis of extent 0")
        places = broadcast_shapes(*(i.shape for i in indices))
        return TensorInfo((*places, *data.shape[len(indices) :]), data.dtype)

    @staticmethod
    def te_compute(*inputs: Tensor) -> Tensor:
        data, *indices = inputs
        places = broadcast_shapes(*(i.shape for i in indices))

        def element(*i: Index) -> Any:
            at = i[: len(places)]
            found = [te.wrapped(t[te.broadcast_index(t, at)], e) for t, e in zip(indices, data.shape, strict=False)]
            return data[(*found, *i[len(places) :])]

        return te.compute([*places, *data.shape[len(indices) :]], element, "adv_index")

    @staticmethod
    def np_ref(*inputs: Array) -> Array:
        data, *indices = inputs
        wrapped = [np.mod(i.astype(np.int64), e) for i, e in zip(indices, data.shape, strict=False)]
        return data[tuple(wrapped)]

    @staticmethod
    def samples() -> list[Sample]:
        def one(
            data: tuple[int, ...],
            *indices: tuple[int, ...],
            dtype: str = "float32",
            index: str = "int64",
            error: str | None = None,
        ) -> Sample:
            return sample((data, dtype), *((i, index) for i in indices), error=error)

        return [
            one((7,), (5,)),
            one((7, 3), (5,)),
            one((7, 9), (5,), (5,)),
            one((7, 9), (2, 1), (3,)),
            one((5, 4, 3), (2, 2), ()),
            one((5, 4, 3), (6,), (6,), (1,)),
            one((1,), (1,)),
            one((3, 2), (0,)),
            one((7, 3), (5,), dtype="float64", index="int32"),
            one((7, 3), (5,), dtype="bool", index="int8"),
            one((7, 3), (5,), dtype="int32", index="uint8"),
            one((7, 3), error="takes a tensor and at least one of indices, got 1 operands"),
            one((7,), (5,), (5,), error="2 indices for a tensor of rank 1"),
            one((7, 7), (5,), (4,), error="do not broadcast"),
            one((0, 7), (5,), error="from an axis of extent 0"),
            one((7,), (5,), index="float32", error="got float32"),
        ]

    @staticmethod
    def relay_grad(grads: Values, operands: Values, results: Values) -> Gradients:
        return picked(AdvIndexOp, grads, operands, {})
