"""`debug`: a place where somebody looks at a value while the program runs.

    %y = relay.debug %x {debug_func = "look"} : tensor<8xf32>

It is run by the virtual machine (`lamina.vm.debugging`), and stays where it is: what is before it has been
computed then, and what is behind it has not.
"""

from __future__ import annotations

from typing import ClassVar

from xdsl.irdl import AnyAttr, ParsePropInAttrDict, VarConstraint
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect

from lamina.dialects.relay.core import ProgramOp
from lamina.dialects.relay.declare import *


@irdl_op_definition
class DebugOp(ProgramOp):
    """The value itself, of any type. The function registered as `debug_func` sees it; without one it is printed."""

    name = "relay.debug"
    T: ClassVar = VarConstraint("T", AnyAttr())

    program = operand_def(T)
    debug_func = prop_def(StringAttr, default_value=StringAttr(""))
    result = result_def(T)

    irdl_options = (ParsePropInAttrDict(),)
    # What the function does is not known: no other op with effects changes places with it.
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())
    assembly_format = "$program attr-dict `:` type($program)"

    @staticmethod
    def make(program: SSAValue, debug_func: str = "") -> DebugOp:
        return DebugOp.create(
            operands=[program], result_types=[program.type], properties={"debug_func": StringAttr(debug_func)}
        )
