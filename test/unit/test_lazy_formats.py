"""Op classes whose formats are read late print and parse as ever; a wrong format is refused when it is used."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, i32
from xdsl.dialects.test import Test
from xdsl.dialects.test import TestOp as SourceOp
from xdsl.ir import Dialect
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, operations, result_def
from xdsl.parser import Parser
from xdsl.utils.exceptions import PyRDLOpDefinitionError

from lamina.dialects.lazy_formats import read_formats_late


@pytest.fixture
def late() -> Generator[None]:
    before = operations.get_accessors_from_op_def
    read_formats_late()
    yield
    operations.get_accessors_from_op_def = before


def same(format_: str) -> type[IRDLOperation]:
    class SameOp(IRDLOperation):
        name = "late.same"
        value = operand_def()
        result = result_def()
        assembly_format = format_

    return irdl_op_definition(SameOp)


def test_what_is_printed_is_parsed(late: None) -> None:
    cls: Any = same("$value `:` type($value) `to` type($result) attr-dict")
    value = SourceOp.create(result_types=[i32]).results[0]
    value.name_hint = "x"
    op = cls.create(operands=[value], result_types=[i32])
    op.verify()
    assert str(op) == "%0 = late.same %x : i32 to i32"
    context = Context()
    for dialect in (Builtin, Test, Dialect("late", [cls])):
        context.load_dialect(dialect)
    text = '%x = "test.op"() : () -> i32\n%0 = late.same %x : i32 to i32'
    read = list(Parser(context, text).parse_module().ops)[1]
    assert type(read) is cls and str(read) == str(op)
    assert cls.get_irdl_definition().assembly_format is not None


def test_a_wrong_format_is_refused_when_it_is_used(late: None) -> None:
    cls = same("$nothing attr-dict")
    op = cls.create(operands=[SourceOp.create(result_types=[i32]).results[0]], result_types=[i32])
    with pytest.raises(PyRDLOpDefinitionError, match="assembly format"):
        str(op)
