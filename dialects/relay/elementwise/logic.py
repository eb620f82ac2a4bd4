"""Broadcasting ops that compare, choose and combine bits: comparisons, maximum, logic, shifts, `where`.

The arithmetic ones are in `arithmetic.py`.
"""

from __future__ import annotations

from lamina.dialects.relay.declare import *


@irdl_op_definition
class MaximumOp(Broadcast, te_element=lambda a, b: te.maximum(a, b), np_ref=lambda a, b: np.maximum(a, b), dtypes=ALL):
    """y = the greater; NaN where one is NaN."""

    name = "relay.maximum"

    @staticmethod
    def relay_grad(grads: Values, operands: Values, results: Values) -> Gradients:
        a, b = operands
        first = r.greater_equal(a, b)
        zero = number(0.0, grads[0])
        return [collapsed(r.where(first, grads[0], zero), a), collapsed(r.where(first, zero, grads[0]), b)]


@irdl_op_definition
class MinimumOp(Broadcast, te_element=lambda a, b: te.minimum(a, b), np_ref=lambda a, b: np.minimum(a, b), dtypes=ALL):
    """y = the smaller; NaN where one is NaN."""

    name = "relay.minimum"

    @staticmethod
    def relay_grad(grads: Values, operands: Values, results: Values) -> Gradients:
        a, b = operands
        first = r.less_equal(a, b)
        zero = number(0.0, grads[0])
        return [collapsed(r.where(first, grads[0], zero), a), collapsed(r.where(first, zero, grads[0]), b)]


class Compared(Broadcast, dtypes=ALL, result_dtype="bool"):
    """Whether two elements stand in a relation."""


@irdl_op_definition
class EqualOp(Compared, te_element=lambda a, b: te.equal(a, b), np_ref=lambda a, b: a == b):
    """y = lhs == rhs."""

    name = "relay.equal"


@irdl_op_definition
class NotEqualOp(Compared, te_element=lambda a, b: te.not_equal(a, b), np_ref=lambda a, b: a != b):
    """y = lhs != rhs; true of NaN."""

    name = "relay.not_equal"


@irdl_op_definition
class LessOp(Compared, te_element=lambda a, b: a < b, np_ref=lambda a, b: a < b):
    """y = lhs < rhs."""

    name = "relay.less"


@irdl_op_definition
class LessEqualOp(Compared, te_element=lambda a, b: a <= b, np_ref=lambda a, b: a <= b):
    """y = lhs <= rhs."""

    name = "relay.less_equal"


@irdl_op_definition
class GreaterOp(Compared, te_element=lambda a, b: a > b, np_ref=lambda a, b: a > b):
    """y = lhs > rhs."""

    name = "relay.greater"


@irdl_op_definition
class GreaterEqualOp(Compared, te_element=lambda a, b: a >= b, np_ref=lambda a, b: a >= b):
    """y = lhs >= rhs."""

    name = "relay.greater_equal"


@irdl_op_definition
class LogicalAndOp(Broadcast, te_element=lambda a, b: a & b, np_ref=lambda a, b: np.logical_and(a, b), dtypes=BOOL):
    """y = lhs and rhs."""

    name = "relay.logical_and"


@irdl_op_definition
class LogicalOrOp(Broadcast, te_element=lambda a, b: a | b, np_ref=lambda a, b: np.logical_or(a, b), dtypes=BOOL):
    """y = lhs or rhs."""

    name = "relay.logical_or"


@irdl_op_definition
class LogicalXorOp(Broadcast, te_element=lambda a, b: a ^ b, np_ref=lambda a, b: np.logical_xor(a, b), dtypes=BOOL):
    """y = whether one of the two holds."""

    name = "relay.logical_xor"


@irdl_op_definition
class BitwiseAndOp(Broadcast, te_element=lambda a, b: a & b, np_ref=lambda a, b: a & b, dtypes=INTEGERS + BOOL):
    """y = bit by bit."""

    name = "relay.bitwise_and"


@irdl_op_definition
class BitwiseOrOp(Broadcast, te_element=lambda a, b: a | b, np_ref=lambda a, b: a | b, dtypes=INTEGERS + BOOL):
    """y = bit by bit."""

    name = "relay.bitwise_or"


@irdl_op_definition
class BitwiseXorOp(Broadcast, te_element=lambda a, b: a ^ b, np_ref=lambda a, b: a ^ b, dtypes=INTEGERS + BOOL):
    """y = bit by bit."""

    name = "relay.bitwise_xor"


class _Shift(Broadcast, dtypes=INTEGERS):
    """The bits of lhs, moved by as many places as rhs says."""

    @staticmethod
    def extra_samples() -> list[Sample]:
        counts = ((-100.0, 100.0), (-1.0, 40.0))
        return [
            *(sample(((41,), d), ((41,), d), ranges=counts) for d in ("int32", "int8", "int64")),
            sample(((41,), "uint8"), ((41,), "uint8"), ranges=((0.0, 255.0), (0.0, 9.0))),
        ]


@irdl_op_definition
class LeftShiftOp(_Shift, te_element=lambda a, b: te.safe_left_shift(a, b), np_ref=lambda a, b: np.left_shift(a, b)):
    """y = lhs * 2^rhs, wrapped; 0 where rhs is not in 0 .. width-1."""

    name = "relay.left_shift"


@irdl_op_definition
class RightShiftOp(_Shift, te_element=lambda a, b: te.safe_right_shift(a, b), np_ref=lambda a, b: np.right_shift(a, b)):
    """y = floor(lhs / 2^rhs); all sign bits where rhs is not in 0 .. width-1."""

    name = "relay.right_shift"


@irdl_op_definition
class WhereOp(RelayOp, fusion_kind=OpPattern.BROADCAST):
    """y = lhs where the condition holds, else rhs; all three broadcast."""

    name = "relay.where"

    condition = operand_def(TensorType)
    lhs = operand_def(TensorType)
    rhs = operand_def(TensorType)
    result = result_def(TensorType)

    @staticmethod
    def infer_type(condition: TensorInfo, lhs: TensorInfo, rhs: TensorInfo) -> TensorInfo:
        check_dtype(condition.dtype, BOOL)
        dtype = same_dtype(lhs, rhs)
        return TensorInfo(broadcast_shapes(condition.shape, lhs.shape, rhs.shape), dtype)

    @staticmethod
    def te_compute(condition: Tensor, lhs: Tensor, rhs: Tensor) -> Tensor:
        return broadcast_compute(te.select, condition, lhs, rhs, name="where")

    @staticmethod
    def np_ref(condition: Array, lhs: Array, rhs: Array) -> Array:
        return np.where(condition, lhs, rhs)

    @staticmethod
    def samples() -> list[Sample]:
        def one(c: tuple[int, ...], a: tuple[int, ...], b: tuple[int, ...], dtype: str = "float32") -> Sample:
            return sample((c, "bool"), (a, dtype), (b, dtype))

        return [
            one((2, 3, 5), (2, 3, 5), (2, 3, 5)),
            one((3, 1), (1, 5), ()),
            one((), (7,), (1,)),
            one((1,), (1,), (1,)),
            one((5,), (2, 5), (2, 1), "float64"),
            one((3,), (3,), (3,), "int32"),
            one((3,), (2, 3), (3,), "int64"),
            one((4,), (4,), (4,), "uint8"),
            one((4,), (), (4,), "bool"),
            sample((3,), (3,), (3,), error="takes bool, got float32"),
            sample(((3,), "bool"), (3,), ((3,), "int32"), error="float32 and int32"),
            sample(((3,), "bool"), (4,), (4,), error="do not broadcast"),
        ]

    @staticmethod
    def relay_grad(grads: Values, operands: Values, results: Values) -> Gradients:
        condition, a, b = operands
        zero = number(0.0, grads[0])
        return [
            None,
            collapsed(r.where(condition, grads[0], zero), a),
            collapsed(r.where(condition, zero, grads[0]), b),
        ]
