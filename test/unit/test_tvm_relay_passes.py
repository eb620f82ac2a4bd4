"""Passes under TVM's names that change what a program takes or how it is computed: numbers, and what is registered."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lamina
from lamina import transform
from lamina.compat.tvm import IRModule, relay
from lamina.dialects import relay as r
from lamina.errors import InputError, UsageError
from lamina.ir.context import LaminaContext
from lamina.ir.parsing import parse_text
from lamina.passes.relay.layout.legal_forms import register_legalize, unregister_legalize

RNG = np.random.default_rng(3)


def convolution(batch: int = 1) -> tuple[Any, Any]:
    x = relay.var("x", shape=(batch, 3, 8, 8))
    w = relay.const(RNG.standard_normal((4, 3, 3, 3)).astype(np.float32))
    y = relay.nn.relu(relay.nn.conv2d(x, w, kernel_size=(3, 3), padding=(1, 1)))
    return x, relay.Function([x], relay.nn.batch_flatten(y))


def run(mod: Any, *arrays: Any) -> Any:
    return relay.create_executor("debug", mod).evaluate()(*arrays).numpy()


def test_a_changed_batch_computes_each_sample_as_before() -> None:
    x, function = convolution()
    mod = IRModule.from_expr(function)
    samples = RNG.standard_normal((3, 3, 8, 8)).astype(np.float32)
    found = run(relay.transform.ChangeBatch({x: 0}, 3)(mod), samples)
    expected = np.concatenate([run(mod, samples[n : n + 1]) for n in range(3)])
    assert found.shape == (3, 256)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


def test_layers_are_skipped_inside_a_layout_config() -> None:
    mod = IRModule.from_expr(convolution()[1])
    nhwc = {"nn.conv2d": ["NHWC", "default"]}
    with relay.transform.LayoutConfig(skip_layers=[0]):
        assert "NHWC" not in str(relay.transform.ConvertLayout(nhwc)(mod))
    assert 'data_layout="NHWC"' in str(relay.transform.ConvertLayout(nhwc)(mod))


def test_an_expression_is_recast() -> None:
    _, function = convolution()
    found = relay.transform.recast(function, "float16", "float32")
    assert str(found).count("cast(") == 2 and 'out_dtype="float32"' in str(found)
    array = RNG.standard_normal((1, 3, 8, 8)).astype(np.float32)
    exact, near = run(IRModule.from_expr(function), array), run(IRModule.from_expr(found), array)
    assert 0 < np.abs(exact - near).max() < 0.05
    assert "float16" not in str(relay.transform.recast(function, "float16", "float32", skip_layers=[0]))


def test_a_registered_form_comes_before_that_of_the_op() -> None:
    text = """func.func @main(%x: tensor<4x8xf32>) -> tensor<4x5xf32> {
      %w = relay.constant dense<1.0> : tensor<8x5xf32>
      %y = relay.nn.matmul %x, %w : (tensor<4x8xf32>, tensor<8x5xf32>) -> tensor<4x5xf32>
      return %y : tensor<4x5xf32> }"""

    def legalized() -> str:
        return str(transform.Legalize()(parse_text(LaminaContext(), text, "matmul.mlir")))

    @register_legalize("nn.matmul")
    def halves(inputs: Any, **attrs: Any) -> Any:
        return r.multiply(r.nn.matmul(inputs[0], r.multiply(inputs[1], 0.5), **attrs), 2.0)

    try:
        assert "relay.nn.matmul" in legalized() and "5.000000e-01" in legalized()
    finally:
        unregister_legalize("nn.matmul", halves)
    assert "relay.nn.dense" in legalized()

    @register_legalize("nn.matmul")
    def flat(inputs: Any, **attrs: Any) -> Any:
        return r.reshape(r.nn.matmul(*inputs, **attrs), newshape=(20,))

    try:
        with pytest.raises(InputError, match="the form that flat gives has the type tensor<20xf32>"):
            legalized()
    finally:
        unregister_legalize("nn.matmul", flat)
    with pytest.raises(UsageError, match="there is no op"):
        register_legalize("nn.convd")


def test_programs_with_registered_forms_are_not_taken_from_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAMINA_CACHE_DIR", str(tmp_path / "cache"))
    source = tmp_path / "exp.mlir"
    line = "%y = relay.exp %x : tensor<4xf32>"
    source.write_text(
        f"func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {{\n{line}\nreturn %y : tensor<4xf32>\n}}\n"
    )

    def compiled() -> tuple[bool, float]:
        made = lamina.compile(str(source))
        return made.cached, float(made(np.zeros(4, np.float32))[0])

    assert compiled() == (False, 1.0) and compiled() == (True, 1.0)

    @register_legalize("exp")
    def wrong(inputs: Any, **attrs: Any) -> Any:
        return r.tanh(inputs[0])

    try:
        assert compiled() == (False, 0.0)
    finally:
        unregister_legalize("exp", wrong)
    assert compiled() == (True, 1.0)


LEVELS = {
    0: "SimplifyInference SimplifyExpr SimplifyExprPostAlterOp FlattenAtrousConv PlanDevices FuseOps InferType "
    "ToMixedPrecision FakeQuantizationToInteger FoldExplicitPadding DivToMul FirstOrderGradient ChangeBatch "
    "MergeComposite AnnotateTarget MergeCompilerRegions PartitionGraph",
    1: "RemoveUnusedFunctions ToBasicBlockNormalForm Legalize EtaExpand SplitArgs Inline LabelOps LambdaLift "
    "ToANormalForm ToGraphNormalForm",
    2: "FoldConstant DynamicToStatic LazyGradientInit",
    3: "EliminateCommonSubexpr BackwardFoldScaleAxis ForwardFoldScaleAxis FoldScaleAxis CanonicalizeCast "
    "CanonicalizeOps AlterOpLayout DefuseOps ConvertLayout",
    4: "CombineParallelConv2D CombineParallelDense CombineParallelBatchMatmul FastMath DenseToSparse Conv2dToSparse "
    "SimplifyFCTranspose",
}
"""TVM's passes by the lowest level that runs them. Of ours three are lower: qnn ops and dead ones go at every level."""


@pytest.mark.parametrize("level, name", [(level, n) for level, names in LEVELS.items() for n in names.split()])
def test_passes_have_tvm_s_names_and_levels(level: int, name: str) -> None:
    info = transform.pass_info(transform.find_pass(name).load())
    assert (info.name, info.opt_level) == (name, level)


def test_passes_require_what_tvm_s_require() -> None:
    for name, required in (("ConvertLayout", "CanonicalizeOps"), ("FakeQuantizationToInteger", "DivToMul")):
        assert transform.pass_info(transform.find_pass(name).load()).required == (required,)
