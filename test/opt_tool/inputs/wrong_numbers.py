"""A pass that leaves a program which verifies and computes something else, for tests of what finds that."""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from lamina.dialects import relay as r
from lamina.dialects.relay.nn.products import DenseOp


@dataclass(frozen=True)
class WrongProducts(ModulePass):
    """Makes the result of every nn.dense a hundredth larger."""

    name = "wrong-products"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for dense in [o for o in op.walk() if isinstance(o, DenseOp)]:
            block = dense.parent
            assert block is not None
            larger = r.multiply.build(dense.result, 1.01).owner
            dense.result.replace_all_uses_with(larger.results[0])
            larger.operands[0] = dense.result
            block.insert_op_after(larger.operands[1].owner, dense)
            block.insert_op_after(larger, larger.operands[1].owner)
