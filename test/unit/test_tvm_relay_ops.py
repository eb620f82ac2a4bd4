"""Every operator of the relay dialect as TVM's expressions and in TVM's text: what goes out comes back the same."""

from __future__ import annotations

from typing import Any

import pytest
from xdsl.dialects import func
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr
from xdsl.ir import Block, Region

import lamina.compat.tvm as tvm
from lamina.compat.tvm import parser
from lamina.compat.tvm.ir import build_module
from lamina.compat.tvm.relay.op_composites import function_of
from lamina.compat.tvm.relay.text_printer import astext
from lamina.dialects.dtypes import tensor_type
from lamina.dialects.rules.op_protocol import Sample
from lamina.frontends.tvm_text.operators import WITH_EFFECTS, op_class, op_names

from .turns import each_second

pytestmark = pytest.mark.slow

NAMES = [n for n in op_names() if n not in WITH_EFFECTS]


def samples_of(name: str) -> list[Sample]:
    declared: Any = op_class(name)
    return [s for s in declared.samples() if s.error is None] if hasattr(declared, "samples") else []


SAMPLED = [n for n in NAMES if samples_of(n)]


def test_nearly_all_ops_have_samples() -> None:
    assert len(SAMPLED) > 0.9 * len(NAMES)


def module_of(name: str, sample: Sample) -> ModuleOp:
    """A module with one op of a sample."""
    block = Block(arg_types=[tensor_type(tuple(t.shape), t.dtype) for t in sample.operands])
    for n, a in enumerate(block.args):
        a.name_hint = f"a{n}"
    op = op_class(name).make(*block.args, **sample.attrs)
    block.add_ops([op, func.ReturnOp(*op.results)])
    names = [DictionaryAttr({"lamina.name": StringAttr(f"a{n}")}) for n in range(len(block.args))]
    types = (list(block.arg_types), list(op.result_types))
    return ModuleOp([func.FuncOp("main", types, Region(block), arg_attrs=ArrayAttr(names) if names else None)])


@pytest.mark.parametrize("name", each_second(SAMPLED))
def test_an_op_is_the_same_after_reading_it_as_an_expression(name: str) -> None:
    for sample in samples_of(name):
        module = module_of(name, sample)
        read = tvm.IRModule.of_ir(module)
        again, _ = build_module(read.functions)
        assert str(again) == str(module)


@pytest.mark.parametrize("name", SAMPLED)
def test_an_op_is_the_same_after_printing_it_as_relays_text(name: str) -> None:
    for sample in samples_of(name):
        module = module_of(name, sample)
        text = astext(tvm.IRModule.of_ir(module))
        again, _ = parser.parse(text).ir()
        assert str(again) == str(module), text


@pytest.mark.parametrize("name", NAMES)
def test_every_op_has_a_function_in_the_namespace(name: str) -> None:
    assert callable(function_of(name))
