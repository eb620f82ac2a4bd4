"""A dialect and a pass that no package holds: 20 lines, for `opt-tool --load`."""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.arith import AddiOp
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Dialect
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, result_def
from xdsl.passes import ModulePass


@irdl_op_definition
class TwiceOp(IRDLOperation):
    name = "double.twice"
    value = operand_def()
    result = result_def()
    assembly_format = "$value attr-dict `:` type($value) `->` type($result)"


@dataclass(frozen=True)
class LowerTwice(ModulePass):
    """Write `double.twice` as an addition."""

    name = "double-lower"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for twice in [o for o in op.walk() if isinstance(o, TwiceOp)]:
            block = twice.parent
            assert block is not None
            add = AddiOp(twice.value, twice.value)
            add.location = twice.location
            block.insert_op_before(add, twice)
            twice.result.replace_all_uses_with(add.result)
            twice.detach()
            twice.erase()


DOUBLE = Dialect("double", [TwiceOp])
