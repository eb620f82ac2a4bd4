"""Modules of relay ops run by the oracles: which function, and which arrays it takes."""

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.test import TestOp

from lamina.errors import InputError
from lamina.interpreters.relay_reference import main_function, run_relay
from lamina.ir.context import LaminaContext
from lamina.ir.parsing import SourceParser

TWO = """
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %y = relay.negative %x : tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}
func.func @other(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  func.return %x : tensor<2x3xf32>
}
"""


def module() -> ModuleOp:
    return SourceParser(LaminaContext(), TWO, "two.mlir").parse_module()


def test_a_function_is_found_by_its_name_among_other_ops() -> None:
    two = module()
    two.body.block.insert_op_before(TestOp(), two.body.block.first_op)  # pyright: ignore[reportArgumentType]
    assert main_function(two).sym_name.data == "main"
    assert main_function(two, "other").sym_name.data == "other"
    with pytest.raises(InputError, match="no function @third in the module"):
        main_function(two, "third")


@pytest.mark.parametrize("shape, dtype", [((2, 3), "float64"), ((3, 2), "float32"), ((2, 3), "int32")])
def test_an_array_of_another_shape_or_type_is_refused(shape: tuple[int, ...], dtype: str) -> None:
    with pytest.raises(InputError, match="argument 0 of @main is "):
        run_relay(main_function(module()), [np.zeros(shape, dtype)])


def test_results_are_those_of_the_oracles() -> None:
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    np.testing.assert_array_equal(run_relay(main_function(module()), [x])[0], -x)
