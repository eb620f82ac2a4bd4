"""An op that says neither what it computes nor what it is made of, for `--load`."""

from typing import Any

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Dialect
from xdsl.irdl import irdl_op_definition, operand_def, result_def

from lamina.dialects.relay.base import RelayOp


@irdl_op_definition
class SomethingOp(RelayOp):
    """Anything of its operand's type."""

    name = "meaningless.something"
    data = operand_def(TensorType)
    result = result_def(TensorType)

    @staticmethod
    def infer_type(data: Any) -> Any:
        return data


MEANINGLESS = Dialect("meaningless", [SomethingOp])
