"""Ops that pass a tensor through and end the run where an element is wrong.

They are no part of the ops that need them, whose values are NumPy's: a frontend inserts a check where its own format
demands an error. A check is a kernel by itself, so that the error names the node it was made for.
"""

from __future__ import annotations

from lamina.dialects.relay.declare import *

DIVISION_BY_ZERO = "integer division by zero"


@irdl_op_definition
class CheckDivisorOp(Elementwise, fusion_kind=OpPattern.OPAQUE, dtypes=INTEGERS, ranges=(1.0, 100.0)):
    """y = x; the run ends in an error where an element is 0."""

    name = "relay.check_divisor"

    @staticmethod
    def te_element(x: Scalar) -> Scalar:
        return te.check(x, te.not_equal(x, 0), DIVISION_BY_ZERO)

    @staticmethod
    def np_ref(x: Array) -> Array:
        """Raises ZeroDivisionError."""
        if not np.all(x):
            raise ZeroDivisionError(DIVISION_BY_ZERO)
        return np.copy(x)

    @staticmethod
    def extra_samples() -> list[Sample]:
        return [sample(((6,), "int8"), ranges=((-100.0, -1.0),)), sample(((2, 33), "int32"), ranges=((-9.0, -1.0),))]
