"""Convolutions of every number of channels a group give the sums of their groups, on each level of x86-64.

Which tile, layout and vectors a kernel has follows from how the channels of a group divide, so a fault may show at one
number of channels alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

import lamina
from lamina.dialects.relay import find_op
from lamina.dialects.relay.meaning import np_results

TARGETS = ("x86-64-v2", "x86-64-v3", "x86-64-v4")
IMAGES = ((3, 3), (5, 7), (1, 9))
"""Odd, so that no tile of pixels divides a row; which one a convolution has follows from its number of channels."""
TOGETHER = 96
"""Convolutions in one program."""


class Case(NamedTuple):
    groups: int
    ins: int
    """Input channels of a group."""
    outs: int
    """Its output channels."""
    kernel: int
    stride: int

    @property
    def name(self) -> str:
        return f"{self.groups}_groups_of_{self.ins}_to_{self.outs}_k{self.kernel}_s{self.stride}"


GROUPED = [
    Case(groups, channels * ins, channels * outs, kernel, stride)
    for channels, groups, (ins, outs), kernel, stride in product(
        range(1, 65), (2, 3, 4), ((1, 1), (1, 2), (2, 1)), (1, 3), (1, 2)
    )
]
DEPTHWISE = [
    Case(channels, 1, outs, kernel, stride)
    for channels, outs, kernel, stride in product(range(1, 65), (1, 2, 3), (1, 3), (1, 2))
]


def sample(target: str) -> list[Case]:
    """About one case of sixty, others for each target: more of those whose groups are whole vectors."""
    first = TARGETS.index(target)
    whole = [case for case in GROUPED if case.outs % 8 == 0]
    return list(dict.fromkeys(GROUPED[first::118] + whole[first::46] + DEPTHWISE[first::58]))


def compare(cases: Sequence[Case], target: str) -> None:
    """Compile and run all cases as outputs of one program; integers, whose sums are exact in any order."""
    random = np.random.default_rng(0)
    conv = find_op("relay.nn.conv2d")
    assert conv is not None
    nodes: list[Any] = []
    infos: list[Any] = []
    weights: list[Any] = []
    given: dict[str, np.ndarray] = {}
    expected: dict[str, np.ndarray] = {}
    for case in cases:
        image = IMAGES[(case.groups + case.ins) % len(IMAGES)]
        x = random.integers(-3, 4, (1, case.groups * case.ins, *image)).astype(np.float32)
        size = (case.groups * case.outs, case.ins, case.kernel, case.kernel)
        w = random.integers(-3, 4, size).astype(np.float32)
        name, strides, pads = case.name, [case.stride] * 2, [case.kernel // 2] * 4
        attrs = {"strides": strides, "padding": pads, "groups": case.groups}
        (expected[name],) = np_results(conv, [x, w], attrs)
        given[f"{name}_x"] = x
        operands = [f"{name}_x", f"{name}_w"]
        nodes.append(helper.make_node("Conv", operands, [name], strides=strides, pads=pads, group=case.groups))
        weights.append(numpy_helper.from_array(w, operands[1]))
        infos.append(helper.make_tensor_value_info(operands[0], TensorProto.FLOAT, x.shape))
    results = [helper.make_tensor_value_info(n, TensorProto.FLOAT, y.shape) for n, y in expected.items()]
    graph = helper.make_graph(nodes, "g", infos, results, weights)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    found = lamina.compile(made, target=target, threads=1).run(given)
    wrong = [name for name, y in expected.items() if not np.array_equal(found[name], y)]
    assert not wrong, wrong


@pytest.mark.parametrize("target", TARGETS)
def test_some_numbers_of_channels(target: str) -> None:
    compare(sample(target), target)


@pytest.mark.long
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("first", range(0, len(GROUPED) + len(DEPTHWISE), TOGETHER))
def test_every_number_of_channels(first: int, target: str) -> None:
    compare((GROUPED + DEPTHWISE)[first : first + TOGETHER], target)
