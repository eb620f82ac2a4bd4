"""oneDNN computes what the ops say: each op of its table on its samples, each composite, whole blocks; and what it
refuses, it says."""

from __future__ import annotations

import sys
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region, SSAValue

from lamina.dialects import relay as r
from lamina.dialects.dtypes import tensor_type
from lamina.dialects.relay import find_op
from lamina.dialects.relay.base import RelayOp
from lamina.dialects.relay.meaning import draw
from lamina.interpreters.relay_reference import main_function, run_relay
from lamina.passes.relay.partition.pattern_tables import Unfit, find_table, get_pattern_table
from lamina.passes.rules.dataflow_matching import find

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "test"), str(ROOT / "test" / "unit")]

from dnnl_programs import (  # noqa: E402
    Array,
    check,
    constant,
    graph,
    needs_dnnl,
    offloaded,
    random_arrays,
    requantised,
)

pytestmark = pytest.mark.slow

TABLE = find_table("dnnl")
Types = list[tuple[tuple[int, ...], str]]

# -- ops by themselves ---------------------------------------------------------------------------------------------


@needs_dnnl
@pytest.mark.parametrize("name", [n.removeprefix("relay.") for n in TABLE.ops])
def test_op_computes_its_samples(name: str) -> None:
    op_type: Any = find_op(f"relay.{name}")
    taken = 0
    for n, s in enumerate(op_type.samples()):
        if s.error is not None:
            continue
        block = Block(arg_types=[tensor_type(tuple(o.shape), o.dtype) for o in s.operands])
        op: RelayOp = op_type.make(*block.args, **s.attrs)
        block.add_ops([op, ReturnOp(*op.results)])
        function = FuncOp("main", ([a.type for a in block.args], [v.type for v in op.results]), Region(block))
        module = ModuleOp([function])
        admitted = TABLE.admits(op)
        if not admitted:
            assert isinstance(admitted, Unfit)
            continue
        rng = np.random.default_rng(n)
        # oneDNN's relu, clip and exp make numbers of NaN.
        arrays = [draw(o, b, True, rng) for o, b in zip(s.operands, s.ranges or (None,) * len(s.operands), strict=True)]
        check(module, f"1 op (1 {name})", arrays)
        taken += 1
    assert taken >= 4


# -- composites ----------------------------------------------------------------------------------------------------

F = "float32"
ANCHORS: dict[str, list[tuple[Any, tuple[int, ...], tuple[int, ...], dict[str, Any]]]] = {
    "conv1d": [
        (r.nn.conv1d, (2, 4, 11), (6, 2, 3), {"groups": 2, "padding": [1], "dilation": [2]}),
        (r.nn.conv1d, (1, 9, 3), (3, 3, 5), {"data_layout": "NWC", "kernel_layout": "WIO", "strides": [2]}),
    ],
    "conv2d": [
        (r.nn.conv2d, (2, 3, 7, 9), (5, 3, 3, 2), {"padding": [1, 0, 2, 1], "strides": [2, 1]}),
        (r.nn.conv2d, (1, 8, 5, 5), (8, 1, 3, 3), {"groups": 8, "padding": [1, 1]}),
        (r.nn.conv2d, (1, 6, 7, 3), (3, 3, 3, 17), {"data_layout": "NHWC", "kernel_layout": "HWIO"}),
        (r.nn.conv2d, (1, 6, 7, 4), (3, 3, 4, 1),
         {"data_layout": "NHWC", "kernel_layout": "HWOI", "groups": 4, "out_layout": "NCHW"}),
    ],
    "conv3d": [
        (r.nn.conv3d, (1, 3, 4, 5, 6), (2, 3, 2, 3, 2), {"padding": [1, 1, 0, 0, 1, 1]}),
        (r.nn.conv3d, (1, 4, 5, 4, 4), (2, 2, 2, 2, 4),
         {"data_layout": "NDHWC", "kernel_layout": "DHWIO", "groups": 2, "strides": [2, 1, 1]}),
    ],
    "deconv2d": [
        (r.nn.conv2d_transpose, (1, 3, 5, 4), (3, 5, 3, 2),
         {"strides": [2, 3], "padding": [1, 0], "output_padding": [1, 2]}),
        (r.nn.conv2d_transpose, (2, 4, 3, 3), (4, 3, 3, 2), {"groups": 2, "dilation": [2, 1]}),
    ],
    "deconv3d": [
        (r.nn.conv3d_transpose, (1, 2, 2, 3, 4), (2, 3, 2, 3, 2),
         {"strides": [2, 1, 3], "padding": [0, 1, 1, 1, 0, 0], "output_padding": [1, 0, 2]}),
    ],
    "dense": [(r.nn.dense, (3, 7), (5, 7), {}), (r.nn.dense, (2, 3, 8), (17, 8), {}), (r.nn.dense, (7,), (2, 7), {})],
}  # fmt: skip
ACTIVATIONS = ("relu", "tanh", "sigmoid", "clip", "gelu", "swish", "mish", "")


def activated(value: SSAValue, name: str) -> SSAValue:
    if name == "gelu":
        erf: Any = r.erf(r.divide(value, constant(sqrt(2))))
        return r.multiply(r.multiply(value, r.add(erf, constant(1.0))), constant(0.5))
    if name == "swish":
        return r.multiply(value, r.sigmoid(value))
    if name == "mish":
        return r.multiply(value, r.tanh(r.log(r.add(r.exp(value), constant(1.0)))))
    if name == "clip":
        return r.clip(value, a_min=-0.5, a_max=0.75)
    words: dict[str, Any] = {"relu": r.nn.relu, "tanh": r.tanh, "sigmoid": r.sigmoid}
    return words[name](value) if name else value


def channel_of(attrs: dict[str, Any], out: tuple[int, ...], anchor: str) -> int:
    layout = attrs.get("out_layout") or attrs.get("data_layout")
    return layout.index("C") if layout else (len(out) - 1 if anchor == "dense" else 1)


def shape_of(value: SSAValue) -> tuple[int, ...]:
    return value.type.get_shape()  # type: ignore[attr-defined]


# Each composite once, over the convolutions in turn; all of them with all activations in `make test-long`.
CASES = [
    pytest.param(a, n, act, marks=[pytest.mark.long] * (n != turn % len(cases)))
    for a, cases in ANCHORS.items()
    for n in range(len(cases))
    for turn, act in enumerate(ACTIVATIONS)
]


@needs_dnnl
@pytest.mark.parametrize(("anchor", "number", "activation"), CASES)
def test_composite_is_computed(anchor: str, number: int, activation: str) -> None:
    word, data, weight, attrs = ANCHORS[anchor][number]
    types: Types = [(data, F), (weight, F)]
    shape: tuple[int, ...] = ()

    def plain(x: SSAValue, w: SSAValue) -> SSAValue:
        nonlocal shape
        value = word(x, w, **attrs)
        shape = shape_of(value)
        return activated(value, activation)

    module = graph(types, plain)
    if activation:
        check(module, f"(1 dnnl.{anchor}_{activation})", random_arrays(types, number))
    channel = channel_of(attrs, shape, anchor)
    wanted = f"(1 dnnl.{'_'.join([anchor, 'bias', *[activation] * bool(activation)])})"
    if ACTIVATIONS.index(activation) % 2:
        bias = random_arrays([((shape[channel],), F)], 5)[0]

        def with_constant(x: SSAValue, w: SSAValue) -> SSAValue:
            return activated(r.nn.bias_add(word(x, w, **attrs), constant(bias), axis=channel), activation)

        check(graph(types, with_constant), wanted, random_arrays(types))
        return

    def with_argument(x: SSAValue, w: SSAValue, b: SSAValue) -> SSAValue:
        return activated(r.add(b, word(x, w, **attrs)), activation)

    types = [*types, ((shape[channel], *(1,) * (len(shape) - 1 - channel)), F)]
    check(graph(types, with_argument), wanted, random_arrays(types))


@needs_dnnl
@pytest.mark.parametrize("anchor", ["conv2d", "dense"])
def test_sum_is_computed(anchor: str) -> None:
    for number, (word, data, weight, attrs) in enumerate(ANCHORS[anchor]):
        out = shape_of(word(*(constant(np.zeros(s)) for s in (data, weight)), **attrs))
        channel = channel_of(attrs, out, anchor)
        types: Types = [(data, F), (weight, F), ((out[channel],), F), (out, F)]
        for activation in ("", "relu"):

            def make(
                x: SSAValue, w: SSAValue, b: SSAValue, y: SSAValue,
                word: Any = word, attrs: Any = attrs, channel: int = channel, activation: str = activation,
            ) -> SSAValue:  # fmt: skip
                return activated(r.add(y, r.nn.bias_add(word(x, w, **attrs), b, axis=channel)), activation)

            wanted = f"dnnl.{anchor}_bias_sum{'_relu' * (activation == 'relu' and anchor == 'conv2d')}"
            check(graph(types, make), f"1 {wanted}", random_arrays(types, number))


@needs_dnnl
@pytest.mark.needs("avx512vnni or avxvnni")
@pytest.mark.parametrize("choice", range(16))
def test_quantised_products_are_exact(choice: int) -> None:
    """Bit for bit: sums are of integers, and fractions are cut off as relay.cast does."""
    dtype = ("uint8", "int8")[choice in (0, 6, 11, 15)]
    biased, act, added, zero = (bool(choice >> n & 1) for n in range(4))
    cases: list[tuple[str, Any, tuple[int, ...], tuple[int, ...], dict[str, Any]]] = [
        ("conv2d", r.qnn.conv2d, (2, 4, 6, 7), (2, 6, 6, 7), {"padding": [1, 1]}),
        ("dense", r.qnn.dense, (3, 9), (3, 6), {}),
    ]
    for name, anchor, data, out, attrs in cases:
        types: Types = [(data, dtype), (out, "int8")]
        make = requantised(anchor, biased, act, added, zero, choice % 3 != 0, **attrs)
        check(graph(types, make), f"(1 dnnl.qnn.{name})", random_arrays(types, choice))


# -- several ---------------------------------------------------------------------------------------------------------


@needs_dnnl
def test_values_keep_their_layouts_between_ops() -> None:
    """Blocks of channels from a convolution to the next, through pools and sums; a result that is read again."""

    def make(x: SSAValue, w: SSAValue, v: SSAValue, b: SSAValue) -> list[SSAValue]:
        a: Any = r.nn.relu(r.nn.bias_add(r.nn.conv2d(x, w, padding=[1, 1]), b))
        c: Any = r.nn.conv2d(r.nn.max_pool2d(a, pool_size=[3, 3], padding=[1, 1]), v)
        s: Any = r.add(r.exp(c), a)
        j: Any = r.concatenate(s, x, a, axis=1)
        return [r.nn.softmax(j, axis=1), a, r.multiply(s, b2(s))]

    def b2(value: SSAValue) -> SSAValue:
        return constant(np.arange(shape_of(value)[-1]) / 8)

    types: Types = [((2, 5, 6, 7), F), ((17, 5, 3, 3), F), ((17, 17, 1, 1), F), ((17,), F)]
    arrays = random_arrays(types)
    arrays[2] *= 0.01
    check(graph(types, make), "1 region, 10 ops", arrays)


def random_graph(seed: int) -> tuple[ModuleOp, list[Array]]:
    """Convolutions, pools, sums, joins and activations on images whose channels fit into no block."""
    rng = np.random.default_rng(seed)
    n, c, size = int(rng.integers(1, 3)), int(rng.choice([3, 7, 16, 17])), int(rng.integers(4, 8))
    types: Types = [((n, c, size, size), F), ((n, c, size, size), F)]

    def make(*images: SSAValue) -> list[SSAValue]:
        values = list(images)

        def scaled(*shape: int) -> SSAValue:
            return constant(rng.standard_normal(shape) / np.sqrt(np.prod(shape[1:])))

        for _ in range(int(rng.integers(3, 14))):
            x = values[-int(rng.integers(1, min(4, len(values)) + 1))]
            channels = shape_of(x)[1]
            alike = [v for v in values if shape_of(v) == shape_of(x)]
            y = alike[int(rng.integers(len(alike)))]
            match int(rng.integers(8)):
                case 0 | 1:
                    made: Any = r.nn.conv2d(x, scaled(int(rng.choice([5, 16, 19])), channels, 3, 3), padding=[1, 1])
                    if rng.random() < 0.7:
                        made = r.nn.bias_add(made, scaled(shape_of(made)[1]))
                        same = [v for v in values if shape_of(v) == shape_of(made)]
                        if same and rng.random() < 0.5:
                            made = r.add(same[int(rng.integers(len(same)))], made)
                    values.append(r.nn.relu(made) if rng.random() < 0.5 else made)
                case 2:
                    values.append(r.nn.max_pool2d(x, pool_size=[3, 3], padding=[1, 1]))
                case 3:
                    values.append(r.add(x, y))
                case 4:
                    values.append(r.multiply(scaled(channels, 1, 1), x))
                case 5:
                    values.append(r.concatenate(x, y, axis=1) if channels < 40 else r.abs(x))
                case 6:
                    values.append(r.nn.softmax(x, axis=int(rng.integers(4))))
                case _:
                    values.append(r.tanh(x))
        unused = [v for v in values if v.first_use is None and v not in images]
        return [*unused, *(v for v in values[2:] if v not in unused and rng.random() < 0.2)]

    return graph(types, make), random_arrays(types, seed)


@needs_dnnl
@pytest.mark.parametrize("seed", [pytest.param(n, marks=[pytest.mark.long] * (n >= 12)) for n in range(200)])
def test_random_graphs_are_computed(seed: int) -> None:
    module, arrays = random_graph(seed)
    check(module, "left: 0 ops", arrays, 1e-4)


@needs_dnnl
def test_arguments_and_equal_results_are_copied() -> None:
    def make(x: SSAValue, y: SSAValue) -> list[SSAValue]:
        a = r.tanh(x)
        return [a, r.abs(a), r.add(a, y), r.subtract(a, r.sqrt(r.abs(y)))]

    types: Types = [((3, 5), F), ((5,), F)]
    check(graph(types, make), "1 region", random_arrays(types))


@needs_dnnl
def test_loaded_code_runs_again_on_other_arrays() -> None:
    from lamina.passes.relay.partition.external_backends import find_backend

    weight = random_arrays([((6, 3, 3, 3), F)], 3)[0]
    types: Types = [((1, 3, 8, 8), F), ((6,), F)]

    def make(x: SSAValue, b: SSAValue) -> SSAValue:
        return r.nn.relu(r.nn.bias_add(r.nn.conv2d(x, constant(weight)), b))

    module = graph(types, make)
    partitioned, _ = offloaded(module)
    (declared,) = [o for o in partitioned.body.block.ops if "code" in o.attributes]
    backend = find_backend("dnnl")
    assert backend is not None
    run = backend.load(declared.attributes["code"].data, [weight], 2)  # type: ignore[attr-defined]
    for seed in range(3):
        arrays: list[Array] = random_arrays(types, seed)
        out = np.empty((1, 6, 6, 6), np.float32)
        run(arrays, [out])
        np.testing.assert_allclose(out, run_relay(main_function(module), arrays)[0], rtol=1e-5, atol=1e-4)


# -- what is refused -------------------------------------------------------------------------------------------------


def refused(types: Types, make: Any) -> str:
    """The report on a graph that is left to us, at least in part."""
    report = offloaded(graph(types, make))[1]
    return report[report.index("left:") :]


@needs_dnnl
def test_add_along_another_axis_is_no_bias() -> None:
    """TVM's table counts elements: four of them are no bias where they vary along the width."""
    types: Types = [((1, 4, 8, 4), F), ((4, 4, 1, 1), F), ((4,), F)]

    def make(x: SSAValue, w: SSAValue, b: SSAValue) -> SSAValue:
        return r.add(r.nn.conv2d(x, w), b)

    check(graph(types, make), "1 region, 2 ops (1 nn.conv2d, 1 add)", random_arrays(types))


@needs_dnnl
def test_other_constants_are_no_gelu() -> None:
    types: Types = [((3, 4), F), ((5, 4), F)]

    def make(x: SSAValue, w: SSAValue) -> SSAValue:
        value: Any = r.nn.dense(x, w)
        erf: Any = r.erf(r.divide(value, constant(1.5)))
        return r.multiply(r.multiply(value, r.add(erf, constant(1.0))), constant(0.5))

    assert "dnnl.dense_gelu: is_number(root.value, 1.4142135623730951) does not hold" in refused(types, make)


def test_tuples_of_the_table_carry_its_guards() -> None:
    """As TVM's users take it: the patterns alone would take any constants for those of gelu."""
    entries = {name: (pattern, check) for name, pattern, check in get_pattern_table("dnnl")}
    pattern, holds = entries["dnnl.dense_gelu"]
    assert holds is not None
    for root, expected in ((sqrt(2), True), (1.5, False)):

        def make(x: SSAValue, w: SSAValue, root: float = root) -> SSAValue:
            value: Any = r.nn.dense(x, w)
            erf: Any = r.erf(r.divide(value, constant(root)))
            return r.multiply(r.multiply(value, r.add(erf, constant(1.0))), constant(0.5))

        module = graph([((3, 4), F), ((5, 4), F)], make)
        value = main_function(module).body.block.last_op.operands[0]  # type: ignore[union-attr]
        assert find(pattern, value) is not None
        assert bool(holds(value)) == expected


@needs_dnnl
def test_reasons_are_told() -> None:
    def even(x: SSAValue) -> SSAValue:
        return r.nn.lrn(x, size=4)

    cases: list[tuple[Types, Any, str]] = [
        ([((3,), "float64")], r.exp, "oneDNN is asked for float32 alone here"),
        ([((3, 1), F), ((1, 4), F)], r.add, "oneDNN broadcasts one operand, the second"),
        ([((1, 8, 3, 3), F)], even, "oneDNN's windows of even size lie elsewhere"),
    ]
    for types, make, why in cases:
        assert f"dnnl does not take it: {why}" in refused(types, make)
    admitted = TABLE.admits(r.nn.layer_norm(*[constant(np.ones(s)) for s in ((3, 4), 3, 3)], axis=0).owner)  # type: ignore[arg-type]
    assert isinstance(admitted, Unfit) and admitted.reason == "oneDNN normalises the last axis alone"
