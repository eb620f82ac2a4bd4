"""Division towards zero and its remainder: trunc_divide, trunc_mod."""

from __future__ import annotations

from lamina.dialects.relay.declare import *
from lamina.dialects.relay.elementwise.arithmetic import Division, TruncatedRemainder, truncated_quotient


@irdl_op_definition
class TruncDivideOp(Division):
    """y = lhs / rhs rounded towards zero."""

    name = "relay.trunc_divide"

    @staticmethod
    def te_element(lhs: Scalar, rhs: Scalar) -> Scalar:
        return te.trunc(lhs / rhs) if is_float(lhs.dtype) else te.safe_truncdiv(lhs, rhs)

    @staticmethod
    def np_ref(lhs: Array, rhs: Array) -> Array:
        return np.trunc(lhs / rhs) if lhs.dtype.kind not in "iu" else truncated_quotient(lhs, rhs)

    @staticmethod
    def relay_grad(grads: Values, operands: Values, results: Values) -> Gradients:
        return [None, None]


@irdl_op_definition
class TruncModOp(TruncatedRemainder):
    """y = lhs - trunc(lhs / rhs) * rhs, with the sign of lhs."""

    name = "relay.trunc_mod"
