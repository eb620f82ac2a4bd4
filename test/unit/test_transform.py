"""Passes from Python: which run, in what order, with what options, and who may watch."""

# Programs are written as users write them: with lambdas, and modules that have no types.
# pyright: standard

from __future__ import annotations

from dataclasses import dataclass, field
from io import StringIO
from typing import Any, ClassVar

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.transforms.common_subexpression_elimination import CommonSubexpressionElimination

import lamina
from lamina import te, transform
from lamina.dialects.relay import find_op
from lamina.dialects.relay.base import Precision, precision_of
from lamina.driver.model import Model
from lamina.driver.pipelines import FUNCTIONS_AWAY, Pipeline, pipeline_text, steps_of
from lamina.errors import UsageError
from lamina.ir.registry import our_passes
from lamina.store.program_cache import program_key
from lamina.transform import OPT_LEVELS, PassContext, Sequential

pytestmark = pytest.mark.slow

GRAPH_PASSES = [s.name for s in (*FUNCTIONS_AWAY, *steps_of("cpu").graph)]
X = np.random.default_rng(0).standard_normal((1, 8, 9, 9)).astype(np.float32)


def branches() -> Any:
    """Three convolutions of one input with batch normalisation, and a softmax over their sum."""
    rng = np.random.default_rng(1)
    nodes: list[Any] = []
    weights: list[Any] = []
    sums: list[str] = []
    for n in range(3):
        weights.append(numpy_helper.from_array(rng.standard_normal((8, 8, 1, 1)).astype(np.float32), f"w{n}"))
        nodes.append(helper.make_node("Conv", ["x", f"w{n}"], [f"c{n}"], name=f"conv{n}"))
        for name in ("scale", "bias", "mean", "var"):
            values = rng.uniform(0.5, 1.5, 8).astype(np.float32)
            weights.append(numpy_helper.from_array(values, f"{name}{n}"))
        inputs = [f"c{n}", f"scale{n}", f"bias{n}", f"mean{n}", f"var{n}"]
        nodes.append(helper.make_node("BatchNormalization", inputs, [f"b{n}"], name=f"norm{n}"))
        nodes.append(helper.make_node("Relu", [f"b{n}"], [f"r{n}"], name=f"relu{n}"))
        sums.append(f"r{n}")
    nodes.append(helper.make_node("Sum", sums, ["s"], name="sum"))
    nodes.append(helper.make_node("Softmax", ["s"], ["y"], name="softmax", axis=1))
    sides = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 8, 9, 9]) for name in ("x", "y")]
    graph = helper.make_graph(nodes, "branches", sides[:1], sides[1:], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])


@pytest.fixture(scope="module")
def model() -> Model:
    return lamina.load(branches())


def run(model: Model, context: int | PassContext) -> Any:
    return lamina.compile(model, threads=1, opt_level=context, cache=False)(X)


@pytest.fixture(scope="module")
def expected(model: Model) -> Any:
    return run(model, 0)


# -- names ---------------------------------------------------------------------------------------------------------


def test_every_relay_pass_has_a_constructor_by_its_class_name() -> None:
    for name, file in our_passes().items():
        if file.level == "relay":
            cls = file.load()
            assert transform.pass_info(cls).name == cls.__name__
            assert cls.__name__ in dir(transform)
            made = transform.find_pass(cls.__name__)
            assert made.name == name and transform.find_pass(name) == made
            assert callable(getattr(transform, cls.__name__))


def test_tvm_spellings_of_names() -> None:
    assert transform.CombineParallelConv2D(4).pass_.min_num_branches == 4
    assert transform.SimplifyFCTranspose().pass_.name == "relay-simplify-fc-transpose"
    layouts = transform.ConvertLayout({"nn.conv2d": ["NHWC", "default"], "nn.max_pool2d": ["NHWC"]})
    assert layouts.pass_.desired_layouts == ("nn.conv2d:NHWC:default", "nn.max_pool2d:NHWC")
    assert layouts.info.required == ("CanonicalizeOps",)
    assert transform.FuseOps(fuse_opt_level=0).pass_.fuse_opt_level == 0
    assert transform.ToMixedPrecision("bfloat16", 2).pass_.mixed_precision_type == "bfloat16"


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: transform.FoldConstnt(), "did you mean 'FoldConstant'"),
        (lambda: transform.fold_constant(), "no attribute 'fold_constant'"),
        (lambda: PassContext(5), "opt_level is one of 0, 1, 2, 3, 4, not 5"),
        (lambda: PassContext(disabled_pass="FoldConstant"), "disabled_pass is a list of names"),
        (lambda: PassContext(required_pass=["FastMaths"]), "unknown pass 'FastMaths'; did you mean 'FastMath'"),
        (lambda: PassContext(config={"relay.FuseOps.max_dept": 3}), "has no option 'max_dept'; did you mean"),
        (lambda: PassContext(config={"max_depth": 3}), "'max_depth' names no option of a pass"),
        (lambda: transform.FuseOps(max_depth="deep"), "option 'max-depth' of pass 'relay-fuse-ops' takes int"),
        (lambda: transform.FuseOps(1, 2, 3), "FuseOps takes 2 arguments, got 3"),
        (lambda: Sequential([transform.FoldConstant]), "is no pass"),
        (lambda: PassContext(disabled_pass=["tir.UnrolLoop"]), "'tir.UnrolLoop'; did you mean 'tir.UnrollLoop'"),
        (lambda: Pipeline(PassContext(3, ["DivToMul"])), "'relay-div-to-mul' is none of the passes"),
    ],
)
def test_mistakes_are_named(call: Any, words: str) -> None:
    with pytest.raises((UsageError, AttributeError)) as raised:
        call()
    assert words in str(raised.value)


# -- which passes run ----------------------------------------------------------------------------------------------


def names(context: int | PassContext) -> list[str]:
    return [p.name for p in Pipeline(context).graph]


def test_levels_add_passes_in_one_order() -> None:
    found = [names(level) for level in OPT_LEVELS]
    for level, (fewer, more) in enumerate(zip(found, found[1:], strict=False)):
        remaining = iter(more)
        assert all(name in remaining for name in fewer), level
    assert found[-1] == GRAPH_PASSES
    assert "relay-fold-constant" in found[2] and "relay-fold-constant" not in found[1]
    assert "relay-alter-op-layout" in found[3] and "relay-alter-op-layout" not in found[2]
    assert {"relay-fast-math", "relay-combine-parallel-conv2d"} <= set(found[4]) - set(found[3])


def test_required_and_disabled_passes() -> None:
    assert "relay-fast-math" in names(PassContext(0, required_pass=["FastMath"]))
    assert "relay-fold-constant" not in names(PassContext(3, disabled_pass=["FoldConstant"]))
    both = PassContext(4, required_pass=["FastMath"], disabled_pass=["relay.FastMath"])
    assert "relay-fast-math" not in names(both)
    assert Pipeline(PassContext(3, disabled_pass=["FuseOps"])).graph_texts()[-1] == "relay-fuse-ops{fuse-opt-level=0}"
    # what a context says of passes that compile no model is for those that are called
    assert names(PassContext(3, config={"relay.ToMixedPrecision.keep_orig_output_dtype": True})) == names(3)
    seven = Pipeline(PassContext(3, config={"relay.FuseOps.max_depth": 7}))
    assert seven.graph_texts()[-1] == "relay-fuse-ops{max-depth=7}"


def test_sequential_runs_what_the_context_enables_and_what_passes_require(model: Model) -> None:
    seen: list[str] = []

    @transform.pass_instrument
    class Watch:
        def run_before_pass(self, mod: Any, info: transform.PassInfo) -> None:
            seen.append(info.name)

    layouts = {"nn.conv2d": ["NHWC", "default"]}
    seq = Sequential([transform.SimplifyInference(), transform.FastMath(), transform.ConvertLayout(layouts)])
    before = model.text()
    with PassContext(opt_level=3, instruments=[Watch()]):
        found = seq(model)
    assert seen == ["SimplifyInference", "CanonicalizeOps", "ConvertLayout"]
    assert model.text() == before
    assert "NHWC" in found.text() and "batch_norm" not in found.text()
    assert found.origin.digest is None  # no program of the model as it was is taken for it
    seen.clear()
    with PassContext(opt_level=4, disabled_pass=["ConvertLayout"], instruments=[Watch()]):
        assert "fast_softmax" in seq(model).text()
    assert seen == ["SimplifyInference", "FastMath"]
    # called alone, a pass runs whatever the level
    with PassContext(opt_level=0, disabled_pass=["FastMath"]):
        assert "fast_softmax" in transform.FastMath()(model).text()


@dataclass(frozen=True)
class Count(ModulePass):
    """A pass of a user's own, as a class."""

    name = "mine-count"
    opt_level: ClassVar[int] = 2
    found: list[int] = field(default_factory=list[int])

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        self.found.append(sum(1 for o in op.walk() if o.name == "relay.nn.conv2d"))


def test_a_pass_of_ones_own_stands_in_a_sequence(model: Model) -> None:
    """Between passes of the tree and of xDSL, as what the context enables."""
    count = Count()
    seq = Sequential([transform.CombineParallelConv2D(), count, CommonSubexpressionElimination()])
    for context, wanted in (
        (PassContext(1), []),
        (PassContext(4), [1]),
        (PassContext(3), [1, 3]),
        (PassContext(4, disabled_pass=["mine-count"]), [1, 3]),
        (PassContext(1, required_pass=["mine-count"], instruments=[transform.PassInstrument()]), [1, 3, 3]),
    ):
        with context:
            assert "nn.conv2d" in seq(model).text()
        assert count.found == wanted
    seen: list[transform.PassInfo] = []

    class See(transform.PassInstrument):
        def run_before_pass(self, mod: Any, info: transform.PassInfo) -> None:
            seen.append(info)

    with PassContext(3, instruments=[See()]):
        seq(model)
    assert [i.name for i in seen] == ["mine-count", "cse"]


def test_passes_written_in_python(model: Model) -> None:
    @transform.module_pass(opt_level=2, name="CountConvolutions")
    def count(mod: Any, ctx: PassContext) -> None:
        found.append(sum(1 for op in mod.walk() if op.name == "relay.nn.conv2d"))

    found: list[int] = []
    with PassContext(1):
        Sequential([count])(model)
    assert found == []
    with PassContext(2):
        Sequential([count])(model)
    assert found == [3]
    with PassContext(2, disabled_pass=["CountConvolutions"]):
        Sequential([count])(model)
    assert found == [3]


# -- compiling -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("level", OPT_LEVELS[1:])
def test_levels_agree(model: Model, expected: Any, level: int) -> None:
    np.testing.assert_allclose(run(model, level), expected, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("name", sorted(set(GRAPH_PASSES)))
def test_no_pass_is_needed_for_the_result(model: Model, expected: Any, name: str, kernel_cache: None) -> None:
    got = lamina.compile(model, threads=1, opt_level=PassContext(4, disabled_pass=[name]))(X)
    np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-6)


BELOW = [s.name for part in steps_of("cpu")[1:] for s in part]
NEEDED = {"relay-to-te", "te-to-tir", "tir-lower-blocks", "tir-vectorize-loop", "tir-plan-memory", "tir-to-llvm"}


@pytest.mark.parametrize("target", ["cpu", "x86-64-v3"])
def test_all_passes_below_the_graph_that_are_not_needed_may_go(
    model: Model, expected: Any, target: str, kernel_cache: None
) -> None:
    with PassContext(3, disabled_pass=[n for n in BELOW if n not in NEEDED]):
        exe = lamina.compile(model, target, threads=2, cache=False)
    assert set(exe.pipeline.split(",")).intersection(BELOW) == NEEDED
    np.testing.assert_allclose(exe(X), expected, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("name", BELOW)
def test_each_pass_below_the_graph_is_left_out_or_refused(name: str) -> None:
    """Also by TVM's spelling: tir.UnrollLoop."""
    level, *words = name.split("-")
    spelled = f"tir.{''.join(map(str.title, words))}" if level == "tir" else name
    context = PassContext(disabled_pass=[spelled])
    if name in NEEDED:
        with pytest.raises(UsageError, match=f"'{name}' cannot be disabled; without it nothing becomes machine code"):
            pipeline_text(context)
    else:
        wanted = [p for p in pipeline_text(2).split(",") if p.partition("{")[0] != name]
        assert pipeline_text(context).split(",") == wanted


def test_passes_below_the_graph_take_options() -> None:
    context = PassContext(config={"tir.StorageFlatten.aligned_only": False})
    wanted = pipeline_text(2).replace("tir-storage-flatten{aligned-only=true}", "tir-storage-flatten")
    assert pipeline_text(context) == wanted != pipeline_text(2)


def test_kernels_are_built_as_the_context_says() -> None:
    a = te.placeholder((63,), name="A")
    b = te.compute((63,), lambda i: a[i] * a[i] + 1.0, name="B")
    s = te.create_schedule(b.op)
    with PassContext(disabled_pass=["tir.FuseMultiplyAdd"]):
        apart = str(lamina.lower(s, [a, b], simple_mode=False))
        kernel = lamina.build(s, [a, b])
    assert "math.fma" in str(lamina.lower(s, [a, b], simple_mode=False)) and "arith.mulf" in apart
    assert "math.fma" not in apart + kernel.get_source("tir")
    x, y = np.arange(63, dtype=np.float32), np.empty(63, np.float32)
    kernel(x, y)
    np.testing.assert_array_equal(y, x * x + 1)


def test_the_current_context_compiles(model: Model) -> None:
    assert lamina.compile(model, threads=1, cache=False).opt_level == 3
    with PassContext(opt_level=2, disabled_pass=["SimplifyExpr"]) as context:
        exe = lamina.compile(model, threads=1, cache=False)
        assert exe.opt_level == 2 and exe.pipeline == pipeline_text(context)
        with PassContext(0):
            assert PassContext.current().opt_level == 0
        assert PassContext.current() is context
        assert lamina.compile(model, threads=1, opt_level=1, cache=False).opt_level == 1
    assert PassContext.current().opt_level == 2 and PassContext.active() is None


def test_a_transformed_model_compiles(model: Model, expected: Any) -> None:
    last = transform.ConvertLayout({"nn.conv2d": ["NHWC", "default"]})(transform.SimplifyInference()(model))
    assert 'data_layout = "NHWC"' in last.text()
    np.testing.assert_allclose(run(last, 3), expected, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_mixed_precision_is_near(model: Model, expected: Any, dtype: str) -> None:
    mixed = transform.ToMixedPrecision(dtype, keep_orig_output_dtype=True)(transform.SimplifyInference()(model))
    assert {"float16": "xf16>", "bfloat16": "xbf16>"}[dtype] in mixed.text()
    got = run(mixed, 3)
    assert got.dtype == np.float32
    assert 0 < np.abs(got - expected).max() < (0.01 if dtype == "float16" else 0.08)


def test_keys_of_programs_tell_contexts_apart() -> None:
    contexts = [
        PassContext(3),
        PassContext(4),
        PassContext(3, required_pass=["FastMath"]),
        PassContext(3, disabled_pass=["FastMath"]),
        PassContext(3, config={"relay.FuseOps.max_depth": 7}),
        PassContext(3, config={"relay.FuseOps.max_depth": 8}),
    ]
    keys = [program_key("model", {}, "target", str(c)) for c in contexts]
    assert len(set(keys)) == len(keys)
    assert str(PassContext(3)) == str(PassContext(3, instruments=[transform.PrintAfterAll()]))


# -- instruments ---------------------------------------------------------------------------------------------------


def test_instruments_see_a_compilation(model: Model) -> None:
    timing, log = transform.PassTimingInstrument(), StringIO()
    printing = transform.PassPrintingInstrument([], ["FuseOps"], log)
    with PassContext(opt_level=3, instruments=[timing, printing]):
        lamina.compile(model, threads=1)
    assert timing.counts["FoldConstant"] == 3 and timing.counts["tir-to-llvm"] == 1
    assert "FoldConstant" in timing.render() and "total" in timing.render()
    assert log.getvalue().startswith("// -- After FuseOps --") and "relay.fn" in log.getvalue()


def test_instruments_may_refuse_passes_that_are_not_required(model: Model) -> None:
    events: list[str] = []

    class Refuse(transform.PassInstrument):
        def enter_pass_ctx(self) -> None:
            events.append("enter")

        def exit_pass_ctx(self) -> None:
            events.append("exit")

        def should_run(self, mod: Any, info: transform.PassInfo) -> bool:
            return info.name not in ("FastMath", "SimplifyInference")

        def run_after_pass(self, mod: Any, info: transform.PassInfo) -> None:
            events.append(info.name)

    seq = Sequential([transform.SimplifyInference(), transform.FastMath()])
    with PassContext(4, required_pass=["FastMath"], instruments=[Refuse()]):
        text = seq(model).text()
    assert "batch_norm" in text and "fast_softmax" in text
    assert events == ["enter", "FastMath", "exit"]
    with pytest.raises(ZeroDivisionError), PassContext(2, instruments=[Refuse()]):
        raise ZeroDivisionError
    assert events[-1] == "exit" and PassContext.active() is None


# -- mixed precision -----------------------------------------------------------------------------------------------

TVM_LISTS = {
    # relay/transform/mixed_precision.py, the ops that exist here
    Precision.ALWAYS: "nn.conv1d nn.conv2d nn.conv3d nn.conv1d_transpose nn.conv2d_transpose nn.conv3d_transpose "
    "nn.contrib_conv2d_NCHWc nn.dense nn.batch_matmul nn.matmul nn.deformable_conv2d",
    Precision.FOLLOW: "nn.pad nn.batch_flatten concatenate split squeeze transpose expand_dims reshape "
    "broadcast_to_like strided_slice take where one_hot slice_like full nn.depth_to_space less "
    "greater less_equal greater_equal copy cast cast_like add subtract multiply divide nn.bias_add "
    "nn.batch_norm sqrt max min maximum minimum argmax argmin nn.relu nn.leaky_relu nn.prelu "
    "nn.dropout sigmoid tanh fast_tanh fast_exp fast_erf clip nn.max_pool1d nn.max_pool2d "
    "nn.max_pool3d nn.avg_pool1d nn.avg_pool2d nn.avg_pool3d nn.global_max_pool2d "
    "nn.adaptive_max_pool1d nn.adaptive_max_pool2d nn.adaptive_max_pool3d",
    Precision.NEVER: "exp power nn.cross_entropy nn.cross_entropy_with_logits nn.nll_loss nn.softmax nn.log_softmax "
    "nn.l2_normalize erf nn.global_avg_pool2d nn.adaptive_avg_pool1d nn.adaptive_avg_pool2d nn.adaptive_avg_pool3d sum "
    "arange mean nn.layer_norm nn.group_norm nn.instance_norm",
}


@pytest.mark.parametrize(("wanted", "listed"), TVM_LISTS.items())
def test_precision_of_ops_is_that_of_tvms_lists(wanted: Precision, listed: str) -> None:
    for name in listed.split():
        op = find_op(f"relay.{name}")
        assert op is not None and precision_of(op) is wanted, name
