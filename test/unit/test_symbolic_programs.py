"""Programs with symbols from relay text to machine code: one compilation, every size."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lamina.backends.cpu.jit import host_target
from lamina.dialects.target import TARGET
from lamina.driver.pipelines import Pipeline
from lamina.errors import InputError
from lamina.ir.context import LaminaContext
from lamina.ir.parsing import parse_text
from lamina.ir.pipeline import parse_pipeline, run_pipeline
from lamina.runtime.compiled import CompiledProgram
from lamina.runtime.llvm_module import load_module

Arrays = dict[str, np.ndarray[Any, Any]]

SMALL = """
func.func @main(
    %x: tensor<?x64xf32, #relay.dims<n, _>>, %w: tensor<32x64xf32>, %b: tensor<32xf32>
  ) -> tensor<?x32xf32> {
  %0 = relay.nn.dense %x, %w : (tensor<?x64xf32, #relay.dims<n, _>>, tensor<32x64xf32>) -> tensor<?x32xf32>
  %1 = relay.add %0, %b : (tensor<?x32xf32>, tensor<32xf32>) -> tensor<?x32xf32>
  %2 = relay.nn.relu %1 : tensor<?x32xf32>
  %3 = relay.nn.softmax %2 : tensor<?x32xf32>
  return %3 : tensor<?x32xf32>
}
"""


def compiled(text: str, dims: str = "") -> CompiledProgram:
    """The program of a text after relay-infer-symbols, by the pipeline that compiles models."""
    ctx = LaminaContext()
    module = parse_text(ctx, text, "model.mlir")
    run_pipeline(module, ctx, parse_pipeline(f'relay-infer-symbols{{dims="{dims}"}}'))
    target = host_target(1)
    module.attributes[TARGET] = target
    Pipeline(3, target=target).run(module, ctx)
    return load_module(module, None)


def softmax(x: Any) -> Any:
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def check(program: CompiledProgram, arrays: Arrays, expected: Any) -> None:
    (found,) = program.run(arrays).values()
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=2e-5, atol=1e-5)


def drawn(random: np.random.Generator, **shapes: tuple[int, ...]) -> Arrays:
    return {name: random.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}


def test_one_compilation_serves_every_size() -> None:
    program = compiled(SMALL, "n=1..4096")
    random = np.random.default_rng(0)
    for n in (1, 2, 7, 64, 1000):
        a = drawn(random, x=(n, 64), w=(32, 64), b=(32,))
        check(program, a, softmax(np.maximum(a["x"] @ a["w"].T + a["b"], 0)))


@pytest.mark.parametrize(
    ("dims", "rows", "message"),
    [
        ("n=1..64", 65, "size 'n': 65 given, it is from 1 to 64"),
        ("n=4..64:4", 6, "size 'n': 6 given, it is a multiple of 4"),
    ],
)
def test_sizes_that_were_not_declared_are_refused(dims: str, rows: int, message: str) -> None:
    a = drawn(np.random.default_rng(0), x=(rows, 64), w=(32, 64), b=(32,))
    with pytest.raises(InputError, match=message):
        compiled(SMALL, dims).run(a)
