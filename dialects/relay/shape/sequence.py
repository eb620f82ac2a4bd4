"""Ops on batches of sequences of different lengths: reverse_sequence, sequence_mask."""

from __future__ import annotations

from typing import Any

from lamina.dialects.relay.declare import *


def _lengths_type(data: TensorInfo, lengths: TensorInfo, batch: int, word: str) -> TensorInfo:
    check_dtype(lengths.dtype, INTEGERS)
    if lengths.shape != (data.shape[batch],):
        raise TypeMismatch(f"{word} has shape {lengths.shape}, expected {(data.shape[batch],)}")
    return data


def _batch(shape: tuple[int, ...], lengths: int, dtype: str = "float32", index: str = "int64", **attrs: Any) -> Sample:
    """A sample of so many lengths; `attrs` may hold an `error`."""
    error = attrs.pop("error", None)
    return sample((shape, dtype), ((lengths,), index), attrs=attrs, error=error)


@irdl_op_definition
class ReverseSequenceOp(Injective):
    """The first seq_lengths[b] elements along `seq_axis` in reverse, where b is the place on `batch_axis`."""

    name = "relay.reverse_sequence"

    data = operand_def(TensorType)
    seq_lengths = operand_def(TensorType)
    seq_axis = int_prop(1)
    batch_axis = int_prop(0)

    @staticmethod
    def infer_type(data: TensorInfo, seq_lengths: TensorInfo, seq_axis: int, batch_axis: int) -> TensorInfo:
        if len(data.shape) < 2:
            raise TypeMismatch(f"data of shape {data.shape} has no axis of sequences beside one of batches")
        rank = len(data.shape)
        if normalize_axis(seq_axis, rank) == normalize_axis(batch_axis, rank):
            raise TypeMismatch(f"seq_axis {seq_axis} and batch_axis {batch_axis} are one")
        return _lengths_type(data, seq_lengths, batch_axis, "seq_lengths")

    @staticmethod
    def te_compute(data: Tensor, seq_lengths: Tensor, seq_axis: int, batch_axis: int) -> Tensor:
        along, batch = normalize_axis(seq_axis, data.ndim), normalize_axis(batch_axis, data.ndim)

        def element(*i: Index) -> Any:
            length = te.minimum(te.cast(seq_lengths[i[batch]], "int64"), data.shape[along])
            at = te.cast(i[along], "int64")
            source = te.select(at < length, length - 1 - at, at)
            return data[(*i[:along], te.clamped(source, data.shape[along]), *i[along + 1 :])]

        return te.compute(data.shape, element, "reverse_sequence")

    @staticmethod
    def np_ref(data: Array, seq_lengths: Array, seq_axis: int, batch_axis: int) -> Array:
        lines = np.moveaxis(data, (batch_axis, seq_axis), (0, 1))
        places = np.arange(lines.shape[1], dtype=np.int64)
        # Sorted, the places before the length stand from the greatest down, and the others stay behind them.
        order = np.argsort(np.where(places < seq_lengths[:, None], -places, places), axis=1, kind="stable")
        turned = np.take_along_axis(lines, order.reshape(order.shape + (1,) * (data.ndim - 2)), 1)
        return np.moveaxis(turned, (0, 1), (batch_axis, seq_axis))

    @staticmethod
    def samples() -> list[Sample]:
        return [
            _batch((3, 7), 3),
            _batch((7, 3), 3, seq_axis=0, batch_axis=1),
            _batch((2, 9, 3), 3, batch_axis=-1),
            _batch((4, 3, 9), 4, seq_axis=2),
            _batch((4, 3, 9), 3, seq_axis=-1, batch_axis=-2),
            _batch((1, 1), 1),
            _batch((5, 9), 5, "int32", "int32"),
            _batch((5, 9), 5, "bool", "uint8"),
            _batch((5, 9), 5, "float64", "int8"),
            _batch((3,), 3, error="data of shape (3,) has no axis of sequences beside one of batches"),
            _batch((3, 7), 7, error="seq_lengths has shape (7,), expected (3,)"),
            _batch((3, 7), 3, seq_axis=0, error="seq_axis 0 and batch_axis 0 are one"),
            _batch((3, 7), 3, index="float32", error="got float32"),
        ]

    @staticmethod
    def relay_grad(grads: Values, operands: Values, results: Values, **attrs: Any) -> Gradients:
        return [r.reverse_sequence(grads[0], operands[1], **attrs), None]


@irdl_op_definition
class SequenceMaskOp(Injective):
    """`data` with `mask_value` from place valid_length[b] of `axis` on, where b is the place on the other of the axes
    0 and 1."""

    name = "relay.sequence_mask"

    data = operand_def(TensorType)
    valid_length = operand_def(TensorType)
    mask_value = float_prop(0.0)
    axis = int_prop(0)

    @staticmethod
    def infer_type(data: TensorInfo, valid_length: TensorInfo, mask_value: float, axis: int) -> TensorInfo:
        if len(data.shape) < 2 or axis not in (0, 1):
            raise TypeMismatch(f"masks axis 0 or 1 of at least two, got axis {axis} of shape {data.shape}")
        return _lengths_type(data, valid_length, 1 - axis, "valid_length")

    @staticmethod
    def te_compute(data: Tensor, valid_length: Tensor, mask_value: float, axis: int) -> Tensor:
        def element(*i: Index) -> Any:
            valid = te.cast(i[axis], "int64") < te.cast(valid_length[i[1 - axis]], "int64")
            return te.select(valid, data[i], te.const(mask_value, data.dtype))

        return te.compute(data.shape, element, "sequence_mask")

    @staticmethod
    def np_ref(data: Array, valid_length: Array, mask_value: float, axis: int) -> Array:
        lines = np.moveaxis(data, axis, -1)
        lengths = valid_length.reshape(-1, *(1,) * (data.ndim - 1))
        places = np.arange(data.shape[axis], dtype=np.int64)
        return np.moveaxis(np.where(places < lengths, lines, np.asarray(mask_value, data.dtype)), -1, axis)

    @staticmethod
    def samples() -> list[Sample]:
        return [
            _batch((7, 3), 3),
            _batch((3, 7), 3, axis=1),
            _batch((5, 3, 2), 3, mask_value=-1.5),
            _batch((3, 5, 1, 2), 3, axis=1, mask_value=7.0),
            _batch((1, 1), 1),
            _batch((9, 4), 4, "int32", "int32", mask_value=-1.0),
            _batch((9, 4), 4, "bool", "uint8"),
            _batch((9, 4), 4, "float64", "int8"),
            _batch((9, 4), 4, "float16", "int64", mask_value=-100.0),
            _batch((7,), 7, error="masks axis 0 or 1 of at least two, got axis 0 of shape (7,)"),
            _batch((7, 3), 3, axis=2, error="got axis 2"),
            _batch((7, 3), 7, error="valid_length has shape (7,), expected (3,)"),
            _batch((7, 3), 3, index="float32", error="got float32"),
        ]

    @staticmethod
    def relay_grad(grads: Values, operands: Values, results: Values, *, mask_value: float, axis: int) -> Gradients:
        return [r.sequence_mask(grads[0], operands[1], mask_value=0.0, axis=axis), None]
