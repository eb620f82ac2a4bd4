"""A Relay op that no package holds, a rule about it and the pass that applies it, for `--load`."""

from dataclasses import dataclass
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Dialect
from xdsl.irdl import irdl_op_definition
from xdsl.passes import ModulePass

from lamina.dialects import relay as r
from lamina.dialects.relay.families import Elementwise
from lamina.dialects.rules.terms import term, var
from lamina.passes.rules.rewriting import Rules


@irdl_op_definition
class CubeOp(Elementwise):
    """y = x * x * x."""

    name = "cubes.cube"

    @staticmethod
    def te_element(x: Any) -> Any:
        return x * x * x

    @staticmethod
    def np_ref(x: Any) -> Any:
        return x * x * x


x = var("x")
rules = Rules("cubes-lower")
rules += term(CubeOp)(x) >> r.multiply(x, r.multiply(x, x))


@dataclass(frozen=True)
class LowerCubes(ModulePass):
    """Writes `cubes.cube` as two products."""

    name = "cubes-lower"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        rules.apply(op)


CUBES = Dialect("cubes", [CubeOp])
