"""State that grows: rows are added behind those of the runs before, in the memory where these lie."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from lamina.dialects.relay.declare import *
from lamina.dialects.relay.row_loops import each_place, extern_tensor

if TYPE_CHECKING:
    from lamina.dialects.relay.row_loops import Place

CHUNKS = (64, 32, 16, 8, 4)
"""Elements that are copied at once, where an inner extent is a multiple: as many as some vectors of any processor have,
and a loop with fewer steps."""


@irdl_op_definition
class StateAppendOp(Opaque):
    """`past`, then `new`, along `axis`, in a tensor with room for `capacity` rows.

    The first `kept` rows are not written: whoever runs the program for such a number hands it the memory of the past
    for the result, with these rows in it. Rows beyond are not written either. With none kept, and room for no more
    rows than there are, it is a concatenation.
    """

    name = "relay.state_append"
    NO_GRADIENT: ClassVar[str] = "rows that are kept are not read"

    past = operand_def(TensorType)
    new = operand_def(TensorType)
    axis = int_prop(0)
    kept = ints_prop()
    """One number, which may depend on symbols."""
    capacity = ints_prop()
    """Likewise."""

    @staticmethod
    def infer_type(
        past: TensorInfo, new: TensorInfo, axis: int, kept: tuple[int, ...], capacity: tuple[int, ...]
    ) -> TensorInfo:
        dtype, rank = same_dtype(past, new), len(past.shape)
        place = normalize_axis(axis, rank)
        if len(kept) != 1 or len(capacity) != 1:
            raise TypeMismatch("kept and capacity are one number each")
        if len(new.shape) != rank or any(
            a != place and e != f for a, (e, f) in enumerate(zip(past.shape, new.shape, strict=True))
        ):
            raise TypeMismatch(f"shapes {past.shape} and {new.shape} differ outside axis {place}")
        if not 0 <= kept[0] <= past.shape[place]:
            raise TypeMismatch(f"{kept[0]} rows are kept of {past.shape[place]}")
        if capacity[0] < past.shape[place] + new.shape[place]:
            rows = past.shape[place] + new.shape[place]
            raise TypeMismatch(f"{rows} rows do not fit a capacity of {capacity[0]}")
        return TensorInfo((*past.shape[:place], capacity[0], *past.shape[place + 1 :]), dtype)

    @staticmethod
    def te_compute(past: Tensor, new: Tensor, axis: int, kept: tuple[int, ...], capacity: tuple[int, ...]) -> Tensor:
        place = normalize_axis(axis, past.ndim)

        def body(ib: IRBuilder, ins: list[Buffer], outs: list[Buffer]) -> None:
            (old, fresh), (result,) = ins, outs

            def one(at: Place) -> None:
                _copy_rows(ib, old, result, at, (kept[0], past.shape[place]), 0)
                _copy_rows(ib, fresh, result, at, (0, new.shape[place]), past.shape[place])

            each_place(ib, past.shape[:place], one, parallel=True)

        shape = (*past.shape[:place], capacity[0], *past.shape[place + 1 :])
        return extern_tensor(shape, past.dtype, [past, new], body, "state_append")

    @staticmethod
    def np_ref(past: Array, new: Array, axis: int, kept: tuple[int, ...], capacity: tuple[int, ...]) -> Array:
        rows = np.concatenate((past, new), axis)
        room = list(rows.shape)
        room[axis] = capacity[0] - rows.shape[axis]
        return np.concatenate((rows, np.zeros(room, rows.dtype)), axis)

    @staticmethod
    def samples() -> list[Sample]:
        def one(
            past: tuple[int, ...], new: tuple[int, ...], capacity: int, dtype: str = "float32", **kw: Any
        ) -> Sample:
            error = kw.pop("error", None)
            return sample((past, dtype), (new, dtype), attrs={"kept": (0,), "capacity": (capacity,), **kw}, error=error)

        return [
            one((3,), (2,), 5),
            one((2, 3, 8), (2, 1, 8), 4, axis=1),
            one((2, 3, 7), (2, 4, 7), 7, "float64", axis=-2),
            one((1, 2, 9), (1, 2, 5), 14, axis=2),
            one((0, 64), (3, 64), 3),
            one((3, 20), (0, 20), 3, "int8"),
            one((2, 3), (2, 1), 4, "bool", axis=1),
            one((3,), (2,), 4, error="5 rows do not fit a capacity of 4"),
            one((3,), (2,), 5, kept=(4,), error="4 rows are kept of 3"),
            one((3,), (2,), 5, kept=(1, 2), error="one number each"),
            one((3, 2), (2, 3), 5, error="differ outside axis 0"),
            one((3, 2), (2,), 5, error="differ outside axis 0"),
            sample((3,), ((2,), "int32"), attrs={"kept": (0,), "capacity": (5,)}, error="float32 and int32"),
        ]


def _copy_rows(ib: IRBuilder, source: Buffer, target: Buffer, at: Place, rows: tuple[Any, Any], behind: Any) -> None:
    """Rows of a buffer into those of another that stand so many rows further on."""
    inner = source.shape[len(at) + 1 :]
    chunk = next((c for c in CHUNKS if inner and not is_symbolic(inner[-1]) and inner[-1] % c == 0), 0)

    def copy(place: Place) -> None:
        target[(*at, place[0] + behind, *place[1:])] = source[(*at, *place)]

    def copy_chunk(place: Place) -> None:
        with ib.for_range(0, chunk, "lane", "vectorized") as lane:
            copy((*place[:-1], place[-1] * chunk + lane))

    steps, one = ((*inner[:-1], inner[-1] // chunk), copy_chunk) if chunk else (inner, copy)
    with ib.for_range(*rows, "row") as row:
        each_place(ib, steps, lambda place: one((row, *place)))


__all__ = ["StateAppendOp"]
