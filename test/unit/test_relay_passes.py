"""Every relay pass on random programs: the result verifies, computes the same values, and is at rest where claimed."""

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, Region, SSAValue

from lamina.backends.cpu.jit import named_target
from lamina.dialects.dtypes import tensor_type
from lamina.dialects.fast_ir import all_ops
from lamina.dialects.infos import tensor_info
from lamina.dialects.relay import find_op
from lamina.dialects.relay.base import RelayOp
from lamina.dialects.relay.core import ConstantOp, FnOp, make_constant
from lamina.dialects.relay.params import ParamAttr, ParamStore
from lamina.dialects.target import TARGET
from lamina.driver.pipelines import Pipeline
from lamina.interpreters.relay_reference import main_function, run_relay
from lamina.ir.context import LaminaContext
from lamina.ir.pipeline import parse_pipeline
from lamina.ir.registry import our_passes
from lamina.ir.verification import verify_module
from lamina.passes.relay.fusion.fuse_ops import fuse_block
from lamina.passes.relay.fusion.graph_partition import Graph, Partition
from lamina.passes.relay.simplify.eliminate_common_subexpr import eliminate_common_subexpr
from lamina.transform import OPT_LEVELS

pytestmark = pytest.mark.slow


class Program:
    """A function under construction from random choices."""

    def __init__(self, choose: Callable[[int], int], shape: tuple[int, ...]) -> None:
        self.choose = choose
        self.store = ParamStore()
        self.rng = np.random.default_rng(choose(1000))
        self.block = Block(arg_types=[tensor_type(shape, "float32")])
        self.values: list[SSAValue] = [self.block.args[0]]

    def constant(self, *shape: int, low: float = -1.0, high: float = 1.0) -> SSAValue:
        array = self.rng.uniform(low, high, shape).astype(np.float32)
        op = make_constant(array, self.store, f"c{len(self.values)}")
        self.block.add_op(op)
        return op.result

    def sparse(self, *shape: int) -> SSAValue:
        """A constant that is mostly zeros."""
        array = self.rng.uniform(-1.0, 1.0, shape) * (self.rng.random(shape) < 0.3)
        op = make_constant(array.astype(np.float32), self.store, f"s{len(self.values)}")
        self.block.add_op(op)
        return op.result

    def number(self, value: float) -> SSAValue:
        op = make_constant(np.full((), value, np.float32), self.store, "number")
        self.block.add_op(op)
        return op.result

    def add(self, name: str, *operands: SSAValue, **attrs: Any) -> SSAValue:
        op_type: type[RelayOp] = find_op(f"relay.{name}")  # type: ignore[assignment]
        op = op_type.make(*operands, **attrs)
        self.block.add_op(op)
        self.values.append(op.results[0])
        return op.results[0]

    def pick(self, *items: Any) -> Any:
        return items[self.choose(len(items))]

    def value(self, rank: int) -> SSAValue | None:
        """A recent value of a rank."""
        found = [v for v in self.values[-6:] if len(tensor_info(v.type).shape) == rank]
        return found[self.choose(len(found))] if found else None

    def finish(self) -> ModuleOp:
        outputs = [v for v in self.values if v.first_use is None] or [self.values[-1]]
        if isinstance(outputs[0].owner, Block):
            outputs = [self.add("nn.relu", outputs[0])]
        self.block.add_op(func.ReturnOp(*outputs))
        types = list(self.block.arg_types), [v.type for v in outputs]
        module = ModuleOp([func.FuncOp("main", types, Region(self.block))])
        module.verify()
        return module


def grow(p: Program) -> None:
    """One more op on an image (or on what became of it), or several on the same."""
    if p.choose(6) == 0:
        branch(p)
        return
    x = p.value(4)
    if x is None:
        x = p.value(2)
        if x is None:
            return
        n, k = tensor_info(x.type).shape
        kind = p.choose(8)
        if kind == 0:
            p.add("nn.dense", x, p.constant(p.pick(3, 16), k))
        elif kind == 5:
            p.add("nn.dense", x, p.sparse(p.pick(4, 6), k))
        elif kind == 3:
            p.add(p.pick("nn.dense", "nn.matmul"), x, p.add("transpose", p.constant(k, k)))
        elif kind == 4:
            p.add("divide", x, p.pick(p.constant(), p.constant(k), p.number(4.0)))
        elif kind == 1:
            p.add("multiply", x, p.constant(k, low=0.1))
        elif kind == 2:
            p.add("transpose", p.add("transpose", x, axes=(1, 0)), axes=(1, 0))
        else:
            p.add(p.pick("nn.relu", "tanh", "negative"), x)
        return
    n, c, h, w = tensor_info(x.type).shape
    kind = p.choose(21)
    if kind <= 3:
        out, size = p.pick(4, 16, 24, 32), p.pick(1, 3)
        weight = p.pick(p.constant, p.sparse)(out, c, size, size)
        y = p.add("nn.conv2d", x, weight, padding=(size // 2,) * 2, strides=(p.pick(1, 2),) * 2)
        if p.choose(2):
            y = p.add("nn.bias_add", y, p.constant(out))
        if p.choose(2):
            vectors = [p.constant(out, low=0.5, high=1.5) for _ in range(4)]
            y = p.add("nn.batch_norm", y, *vectors, axis=1)
        if p.choose(2):
            p.add("nn.relu", y)
    elif kind == 4:
        p.add("nn.conv2d", x, p.constant(c, 1, 3, 3), padding=(1, 1), groups=c)
    elif kind == 5:
        same = [v for v in p.values if v.type == x.type]
        p.add(p.pick("add", "multiply", "maximum"), x, same[p.choose(len(same))])
    elif kind == 6:
        p.add(
            p.pick("add", "multiply", "subtract"), x, p.pick(p.constant(c, 1, 1), p.constant(), p.constant(1, c, h, 1))
        )
    elif kind == 7:
        images = [v for v in p.values if len(s := tensor_info(v.type).shape) == 4 and (s[0], *s[2:]) == (n, h, w)]
        p.add("concatenate", x, images[p.choose(len(images))], axis=p.pick(1, -3))
    elif kind == 8 and h > 2 and w > 2:
        name = p.pick("nn.max_pool2d", "nn.avg_pool2d")
        p.add(name, x, pool_size=(2, 2), strides=(2, 2), padding=(p.choose(2),) * 2)
    elif kind == 9:
        p.add("nn.pad", x, pad_width=(0, 0, 0, p.choose(2), 1, 0, 0, p.choose(2)), pad_value=p.pick(0.0, 0.5))
    elif kind == 10:
        p.add("transpose", p.add("transpose", x, axes=(0, 2, 3, 1)), axes=(0, 3, 1, 2))
    elif kind == 11:
        p.add("clip", p.add("clip", x, a_min=-1.0, a_max=2.0), a_min=0.0, a_max=1.5)
    elif kind == 12 and c * h * w < 3000:
        p.add("nn.batch_flatten", x)
    elif kind == 13:
        p.add("nn.global_avg_pool2d", x)
    elif kind == 14:
        p.add("nn.lrn", x, size=3)
    elif kind == 15:
        p.add(p.pick("mean", "max", "sum"), x, axis=p.pick((2, 3), (1,), (-1, 1), (0,)), keepdims=bool(p.choose(2)))
    elif kind == 16:
        # a dilated convolution as TensorFlow writes it
        last = p.add("transpose", x, axes=(0, 2, 3, 1))
        pads = (1, 1 + h % 2, 2, 2 + w % 2)
        apart = p.add("nn.space_to_batch_nd", last, block_shape=(2, 2), paddings=pads)
        y = p.add("nn.conv2d", apart, p.constant(2, 2, c, 4), data_layout="NHWC", kernel_layout="HWIO")
        y = p.add("nn.batch_to_space_nd", y, block_shape=(2, 2), crops=(0, 1, p.choose(3), 0))
        p.add("transpose", y, axes=(0, 3, 1, 2))
    elif kind == 17:
        wide = p.add("cast", x, dtype="float64")
        y = p.add("add", p.add("abs", wide), p.add("negative", wide))
        for v in [v for v in p.values if tensor_info(v.type).dtype == "float64"]:
            p.values.remove(v)
        p.add("cast", y, dtype="float32")
    elif kind == 19:
        p.add("on_device", p.add("negative", x), virtual_device="cuda:0")
    elif kind == 18:
        p.add("nn.softmax", p.add("annotation.stop_fusion", p.add("tanh", x)), axis=p.pick(1, -1))
    else:
        p.add(p.pick("nn.relu", "sigmoid", "exp", "nn.dropout", "negative", "abs", "cos"), x)


def branch(p: Program) -> None:
    """Ops of one kind on one value, and what follows them, mostly the same."""
    x = p.value(p.pick(2, 4))
    if x is None:
        return
    shape = tensor_info(x.type).shape
    rank, channels = len(shape), shape[1]
    first = p.pick(2, 4)
    for _ in range(p.choose(3) + 2):
        units = p.pick(first, first, 3)
        if rank == 4:
            y = p.add("nn.conv2d", x, p.constant(units, channels, 1, 1), strides=(p.pick(1, 1, 2),) * 2)
        elif p.choose(4):
            y = p.add("nn.dense", x, p.constant(units, channels))
        else:
            left = p.add("expand_dims", x, axis=0, num_newaxis=1)
            y = p.add("squeeze", p.add("nn.batch_matmul", left, p.constant(1, units, channels)), axis=(0,))
        if p.choose(3):
            y = p.add("nn.bias_add", y, p.constant(units), axis=1)
        if p.choose(3):
            y = p.add("multiply", y, p.pick(p.number(2.0), p.constant(units, *(1,) * (rank - 2))))
        if p.choose(2):
            p.add("nn.relu", y)


class Drawn:
    """A random program; its text is what a failure shows."""

    def __init__(self, program: Program) -> None:
        self.module = program.finish()
        self.store = program.store

    def __repr__(self) -> str:
        return f"\n{self.module}"


@st.composite
def programs(draw: Any) -> Drawn:
    def choose(n: int) -> int:
        return draw(st.integers(0, n - 1))

    p = Program(choose, (1, (3, 8, 16, 20)[choose(4)], 6, 5))
    for _ in range(choose(9) + 1):
        grow(p)
    return Drawn(p)


LEVELS = [pytest.param(level, id=f"level {level}") for level in OPT_LEVELS]

OFFLOAD = "relay-merge-composite{patterns=dnnl},relay-annotate-target{targets=dnnl},relay-merge-compiler-regions"

OTHERWISE = {
    "relay-to-mixed-precision": "changes the accuracy",
    "relay-first-order-gradient": "changes what the function returns",
    "relay-vmap": "changes what the function takes and returns; test_vmap.py has every op",
    "relay-sample-token": "changes what the function takes and returns; test_sample_token.py has what it computes",
    "relay-change-batch": "takes another number of samples",
}
"""Passes whose results are not the program's values, tested elsewhere."""

VARIANTS = {
    "relay-annotate-target": ["{targets=dnnl}"],
    "relay-merge-composite": ["{patterns=dnnl}"],
    "relay-partition-graph": ["", OFFLOAD],
    "relay-alter-op-layout": ["", "{block=8}"],
    "relay-combine-parallel-conv2d": ["{min-num-branches=2}"],
    "relay-combine-parallel-dense": ["{min-num-branches=2}", "{min-num-branches=2 to-batch=false}"],
    "relay-combine-parallel-batch-matmul": ["{min-num-branches=2}"],
    "relay-conv2d-to-sparse": ["{block-size=1,1 sparsity-threshold=0.5}", "{block-size=2,2 sparsity-threshold=0.1}"],
    "relay-dense-to-sparse": ["{block-size=1,1 sparsity-threshold=0.5}", "{block-size=2,1 sparsity-threshold=0.2}"],
    "relay-convert-layout": ["", "{desired-layouts=nn.conv2d:NHWC:default,nn.max_pool2d:NHWC}"],
    "relay-inject-stop-fusion": ["{ops=nn.relu,nn.conv2d}"],
    "relay-recast": ["{dtype=float64 ops=nn.conv2d,nn.dense,tanh skip-layers=1}"],
    "relay-split-args": ["{max-function-args=2}"],
}
"""The options that passes are tested with, where the defaults do not show all that they do."""

CASES = [
    f"{options},{name}" if options == OFFLOAD else name + options
    for name, file in our_passes().items()
    if file.level == "relay" and name not in OTHERWISE
    for options in VARIANTS.get(name, [""])
]

MOVES_ON = {
    "relay-alter-op-layout": "converts again what it has put between plain ops",
    "relay-convert-layout": "converts again what it has put between plain ops",
    "relay-fuse-ops": "its functions are no ops that it could group",
}
"""Passes that are not at rest after one run, and why."""


def outputs(module: ModuleOp, store: ParamStore) -> list[Any]:
    main = main_function(module)
    info = tensor_info(main.function_type.inputs.data[0])
    return run_relay(main, [np.random.default_rng(1).uniform(-1, 1, info.shape).astype(np.float32)], store)


def check_same(want: list[Any], got: list[Any]) -> None:
    for a, b in zip(want, got, strict=True):
        assert a.shape == b.shape and a.dtype == b.dtype
        finite = np.abs(a[np.isfinite(a)])
        np.testing.assert_allclose(b, a, rtol=1e-3, atol=1e-4 * float(finite.max(initial=1.0)))


def are_alike(a: ModuleOp, b: ModuleOp) -> bool:
    """Whether modules have the same text, which takes ten times as long to write as this to tell."""
    ops = zip(all_ops(a), all_ops(b), strict=True)
    return a.is_structurally_equivalent(b) and all(names(x) == names(y) for x, y in ops)


def names(op: Operation) -> list[str | None]:
    """The names of the values that an op makes."""
    arguments = [a for region in op.regions for block in region.blocks for a in block.args]
    return [v.name_hint for v in (*op.results, *arguments)]


def run_passes(text: str, module: ModuleOp, store: ParamStore) -> None:
    ctx = LaminaContext()
    ctx.params = store
    for p in parse_pipeline(text):
        p.apply(ctx, module)
        verify_module(module)


SETTINGS = settings(
    max_examples=6,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


@pytest.mark.parametrize("text", CASES)
@SETTINGS
@given(program=programs())
def test_pass_keeps_values_and_types(text: str, program: Drawn):
    module, store = program.module, program.store
    want = outputs(module, store)
    run_passes(text, module, store)
    check_same(want, outputs(module, store))
    if text.partition("{")[0] not in MOVES_ON:
        after = module.clone()
        run_passes(text, module, store)
        assert are_alike(module, after), f"{after}\n\nbecomes\n\n{module}"


@pytest.mark.parametrize("level", LEVELS)
@SETTINGS
@given(program=programs())
def test_pipeline_keeps_values(level: int, program: Drawn):
    module, store = program.module, program.store
    want = outputs(module, store)
    module.attributes[TARGET] = named_target("x86-64-v3", 1)
    run_passes(",".join(Pipeline(level).graph_texts()), module, store)
    check_same(want, outputs(module, store))
    # Every relay op is in a primitive function now.
    for op in main_function(module).body.block.ops:
        assert isinstance(op, (FnOp, ConstantOp, func.ReturnOp)) or op.name == "relay.call"


def chain(length: int) -> ModuleOp:
    """Five kinds of ops with a residual add every fifth."""
    p = Program(lambda n: 0, (2, 3))
    value = residual = p.values[0]
    for i in range(length):
        if i % 5 == 4:
            value = residual = p.add("add", value, residual)
        else:
            value = p.add(("abs", "negative", "negative", "ceil")[i % 5], value)
    p.block.add_op(func.ReturnOp(value))
    return ModuleOp([func.FuncOp("main", (list(p.block.arg_types), [value.type]), Region(p.block))])


def test_fusion_looks_at_a_linear_number_of_nodes():
    steps: list[int] = []
    for n in (2000, 20000):
        partition = Partition(Graph(main_function(chain(n)).body.block))
        steps.append(partition.steps)
        assert all(len(g) <= 256 for g in partition.groups())
    assert steps[1] < 10.5 * steps[0]


def test_nested_skip_connections_stay_linear():
    # A U: every value on the way down is used again on the way up, in the opposite order.
    def partition(depth: int) -> Partition:
        p = Program(lambda n: 0, (2, 3))
        down = [p.values[0]]
        for _ in range(depth):
            down.append(p.add("abs", down[-1]))
        value = down[-1]
        for skipped in reversed(down):
            value = p.add("add", value, skipped)
        p.block.add_op(func.ReturnOp(value))
        return Partition(Graph(p.block))

    # A path is given up at 256 nodes, so that is the most for each op.
    assert partition(5000).steps <= 256 * 5000


def test_twenty_thousand_ops_fuse_and_merge_without_recursion():
    module = chain(20000)
    eliminate_common_subexpr(module)
    block = main_function(module).body.block
    fuse_block(block)
    assert sum(1 for op in block.ops if isinstance(op, FnOp)) < 250
    run_relay(main_function(module), [np.zeros((2, 3), np.float32)])


def test_folding_weights_computes_nothing_until_asked():
    p = Program(lambda n: 0, (1, 32, 4, 4))
    y = p.add("nn.conv2d", p.values[0], p.constant(32, 32, 3, 3), padding=(1, 1))
    p.add("multiply", y, p.constant(32, 1, 1))
    module = p.finish()
    run_passes("relay-fold-scale-axis,relay-alter-op-layout", module, p.store)
    (weight,) = [
        op.value
        for op in module.walk()
        if isinstance(op, ConstantOp) and prod(tensor_info(op.result.type).shape) > 1000
    ]
    assert isinstance(weight, ParamAttr) and p.store.is_derived(weight)
    assert p.store.get(weight).shape == (1, 2, 3, 3, 16, 32)
