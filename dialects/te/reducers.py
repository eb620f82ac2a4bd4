"""Reducers of a te.compute that are given as regions: any way to combine terms, also of several values at once.

    %i, %v = te.compute "argmax" [4] reduce [8] (%r, %k) : tensor<4xi32>, tensor<4xf32> {
      ...
      te.yield %place, %x : i32, f32
    } combine (%i0, %v0, %i1, %v1) {
      ...
      te.yield %i2, %v2 : i32, f32
    } identity {
      ...
      te.yield %none, %lowest : i32, f32
    }

`combine` takes what has been accumulated, then one term. That it is associative and commutative, with `identity`
neutral in it, is the author's promise: schedules change the order of terms. Neither region reads anything else.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Block, Operation, Region
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from lamina.dialects.dtypes import scalar_type
from lamina.dialects.region_text import parse_body, print_body

REGION_COMBINER = "reduce"
"""The combiner of a te.compute that brings its own regions."""


def element_types(types: Sequence[Attribute]) -> list[Attribute]:
    """The scalar types of the elements of tensors."""
    return [scalar_type(cast("TensorType[Attribute]", t).element_type) for t in types]


def verify_reducer(regions: Sequence[Region], types: Sequence[Attribute]) -> None:
    """`combine` takes twice the scalars of the results and gives them once; `identity` gives them out of nothing."""
    if len(regions) != 2:
        raise VerifyException("a combine region and an identity region go together")
    scalars = element_types(types)
    for what, region, arguments in zip(("combine", "identity"), regions, (scalars * 2, []), strict=True):
        block = region.block
        if list(block.arg_types) != arguments:
            raise VerifyException(
                f"{what} takes {_text(block.arg_types)}; for results {_text(types)} it takes {_text(arguments)}"
            )
        last = block.last_op
        if last is None or last.name != "te.yield":
            raise VerifyException(f"{what} ends without te.yield")
        if list(last.operand_types) != scalars:
            raise VerifyException(f"{what} yields {_text(last.operand_types)}; the results hold {_text(scalars)}")
        for op in block.ops:
            if op is not last and not op.name.startswith(("arith.", "math.")):
                raise VerifyException(f"{what} holds {op.name}; it may hold arithmetic only")
            for operand in op.operands:
                home = operand.owner.parent if isinstance(operand.owner, Operation) else operand.owner
                if home is not block:
                    raise VerifyException(f"{what} uses a value from outside; it sees its own arguments only")


def _text(types: Sequence[Attribute]) -> str:
    return ", ".join(str(t) for t in types) or "nothing"


def print_reducer(printer: Printer, regions: Sequence[Region]) -> None:
    """` combine (%a, %b) {...} identity {...}`."""
    combine, identity = regions
    printer.print_string(" combine ")
    printer.enter_scope()
    with printer.in_parens():
        printer.print_list(combine.block.args, printer.print_ssa_value)
    printer.print_string(" ")
    print_body(printer, combine)
    printer.exit_scope()
    printer.print_string(" identity ")
    print_body(printer, identity)


def parse_reducer(parser: Parser, types: Sequence[Attribute]) -> list[Region]:
    """The two regions behind the body, none where there is no `combine`."""
    if parser.parse_optional_keyword("combine") is None:
        return []
    arguments = parser.parse_comma_separated_list(
        parser.Delimiter.PAREN, lambda: parser.parse_argument(expect_type=False)
    )
    scalars = element_types(types) * 2
    if len(arguments) != len(scalars):
        parser.raise_error(f"combine takes {len(scalars)} arguments, two for each result; got {len(arguments)}")
    combine = parser.parse_region([a.resolve(t) for a, t in zip(arguments, scalars, strict=True)])
    parser.parse_keyword("identity")
    return [combine, parse_body(parser)]


def inline_region(block: Block, arguments: Sequence[Any], target: Block) -> list[Any]:
    """Append copies of a combine or identity block's ops to another block; returns what it yields there."""
    values: dict[Any, Any] = dict(zip(block.args, arguments, strict=True))
    for op in block.ops:
        if op is block.last_op:
            return [values[v] for v in op.operands]
        target.add_op(op.clone(values))
    raise VerifyException("a reducer's region without te.yield")
