"""Corners of operators that ONNX's own tests leave out, against onnxruntime: found by random models of one operator."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

import lamina

sys.path.insert(0, str(Path(__file__).resolve().parent))

from contributed_nodes import Nodes  # noqa: E402


def test_slices_go_down_from_the_first_element_where_they_start_before_it() -> None:
    g = Nodes()
    x = np.arange(24).reshape(4, 6)
    for start, end, step in ((-9, -9, -1), (-7, -99, -2), (9, -99, -1), (-1, -4, -3), (2, 5, -1), (-9, 3, 2)):
        g.add("Slice", [x, *(np.array([v]) for v in (start, end, 1, step))], domain="")
    g.check(g.imported())


def test_slices_with_bounds_that_are_given_begin_at_an_element_too() -> None:
    """Bounds that a model computes mean what constant ones do, for each axis of its own step."""
    g = Nodes()
    x = np.arange(24).reshape(4, 6)
    for start, end, step in ((-9, -9, -1), (-7, -99, -2), (9, -99, -1), (-1, -4, -3), (-9, 3, 2), (-(2**63), -8, -7)):
        bounds = [np.array([v, w]) for v, w in ((start, -9), (end, 3), (0, 1), (step, 1))]
        g.add("Slice", [x, *bounds], given=(0, 1, 2), domain="")
        g.add("Slice", [x, *bounds], given=(0, 2), domain="")
    g.check(g.compiled())


def test_slices_of_open_extents_begin_at_an_element_too() -> None:
    """Places that are found while it runs, gone through from behind: with a bound that is constant, and a given one."""
    x = np.array([0.0, 1.0, 0.0, 2.0, 3.0, 4.0], np.float32)
    ports = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [6])]
    ports += [helper.make_tensor_value_info("from", TensorProto.INT64, [1])]
    arrays = {"before": np.array([-9]), "end": np.array([-99]), "axis": np.array([1]), "down": np.array([-1])}
    nodes = [helper.make_node("NonZero", ["x"], ["places"])]
    nodes += [
        helper.make_node("Slice", ["places", start, "end", "axis", "down"], [f"y{n}"])
        for n, start in enumerate(("before", "from"))
    ]
    results = [helper.make_tensor_value_info(f"y{n}", TensorProto.INT64, None) for n in range(2)]
    weights = [numpy_helper.from_array(a, name) for name, a in arrays.items()]
    graph = helper.make_graph(nodes, "g", ports, results, weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    exe = lamina.compile(model, threads=1, cache=False)
    for start, wanted in ((-9, [1]), (-4, [1]), (-3, [3, 1]), (99, [5, 4, 3, 1])):
        first, second = exe.run({"x": x, "from": np.array([start])}).values()
        assert (first.tolist(), second.tolist()) == ([[1]], [wanted])


@pytest.mark.parametrize("name", ["Softplus", "Mish"])
def test_what_is_small_is_not_lost_beside_one(name: str) -> None:
    """Below -17 log(1 + e^x) is e^x, which 1 + e^x does not hold; Mish is x times that."""
    x = np.array([-90.0, -22.0, -17.0, -1.5, 0.0, 3.0, 100.0], np.float32)
    ports = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [7]) for n in "xy"]
    graph = helper.make_graph([helper.make_node(name, ["x"], ["y"])], "g", ports[:1], ports[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    (y,) = lamina.compile(model, threads=1, cache=False).run({"x": x}).values()
    wide = x.astype(np.float64)
    expected = np.logaddexp(0, wide) if name == "Softplus" else wide * np.tanh(np.logaddexp(0, wide))
    np.testing.assert_allclose(y, expected, rtol=1e-6)


@pytest.mark.parametrize("name", ["Adagrad", "Adam"])
def test_a_gradient_of_zero_moves_nothing(name: str) -> None:
    """The root that a step is divided by is zero then, but for the epsilon that ONNX adds where nothing is said."""
    states = ["h"] if name == "Adagrad" else ["v", "h"]
    scalars: dict[str, tuple[int, list[int]]] = {"r": (1, []), "t": (7, [])}
    shapes = scalars | {name: (1, [3]) for name in ("x", "g", *states)}
    outs = ["y", *(f"{s}_new" for s in states)]
    graph = helper.make_graph(
        [helper.make_node(name, [*shapes], outs, domain="ai.onnx.preview.training")],
        "g",
        [helper.make_tensor_value_info(n, *s) for n, s in shapes.items()],
        [helper.make_tensor_value_info(n, 1, [3]) for n in outs],
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.preview.training", 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=8)
    zero = np.zeros(3, np.float32)
    x = np.array([1.5, -2.0, 0.0], np.float32)
    given = {"r": np.float32(0.5), "t": np.int64(1), "x": x, "g": zero, **dict.fromkeys(states, zero)}
    found = lamina.compile(model, threads=1, cache=False).run({k: np.asarray(v) for k, v in given.items()})
    np.testing.assert_array_equal(found["y"], x)


@pytest.mark.parametrize("opset", [1, 6, 9])
def test_one_slope_for_a_number_leaves_a_number(opset: int) -> None:
    port = helper.make_tensor_value_info
    nodes = [helper.make_node("PRelu", ["x", "slope"], ["p"]), helper.make_node("Sub", ["z", "p"], ["y"])]
    ports = [port("x", 1, []), port("z", 1, [])], [port("y", 1, [])]
    graph = helper.make_graph(nodes, "g", *ports, [numpy_helper.from_array(np.array([0.25], np.float32), "slope")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=3)
    exe = lamina.compile(model, threads=1, cache=False)
    found = exe.run({"x": np.array(-2, np.float32), "z": np.array(1, np.float32)})["y"]
    assert (found.shape, float(found)) == ((), 1.5)


def test_what_wraps_is_what_negative_pads_leave() -> None:
    g = Nodes(opset=19)
    x = g.floats(3, 5)
    for pads in ([1, -1, 0, 2], [0, 2, 0, -2], [-1, 3, 2, -1], [2, 7, 4, 0]):
        g.add("Pad", [x, np.array(pads)], domain="", mode="wrap")
    g.check(g.imported())


@pytest.mark.parametrize("corners", [0, 1])
def test_grids_of_one_line(corners: int) -> None:
    """onnxruntime puts a lone corner at the far end, ONNX's reference at the near one, its function nowhere."""
    g = Nodes(opset=20)
    theta, size = g.floats(2, 2, 3), np.array([2, 1, 3, 1])
    g.add("AffineGrid", [theta, size], domain="", align_corners=corners)
    (found,) = g.imported().values()
    y = np.array([-1, 0, 1]) if corners else np.array([-2, 0, 2]) / 3
    x = -1.0 if corners else 0.0
    wanted = [[[m @ np.array([x, v, 1])] for v in y] for m in theta.astype(np.float64)]
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-6)
    if not corners:
        g.check(g.imported())


def test_grids_of_places_and_volumes() -> None:
    g = Nodes(opset=20)
    for corners in (0, 1):
        g.add("AffineGrid", [g.floats(2, 2, 3), np.array([2, 3, 4, 5])], domain="", align_corners=corners)
        g.add("AffineGrid", [g.floats(1, 3, 4), np.array([1, 3, 2, 4, 3])], domain="", align_corners=corners)
    g.check(g.imported())


def test_one_element_of_half_pixels_is_the_first() -> None:
    g = Nodes()
    image = g.floats(1, 1, 5, 4)
    attrs: dict[str, Any] = {"coordinate_transformation_mode": "pytorch_half_pixel", "cubic_coeff_a": -0.5}
    for mode in ("cubic", "linear"):
        g.add("Resize", [image, None, None, np.array([1, 1, 7, 1])], domain="", mode=mode, **attrs)
        g.add("Resize", [g.floats(1, 1, 6), None, None, np.array([1, 1, 1])], domain="", mode="linear", **attrs)
        # One element is left of one and a half, too.
        scales = np.array([1, 1, 2, 0.5], np.float32)
        g.add("Resize", [g.floats(1, 1, 2, 3), None, scales], domain="", mode=mode, **attrs)
    g.check(g.imported())


@pytest.mark.parametrize("kind", ["int32", "int64"])
def test_norms_and_logarithms_of_integers_are_cut_off(kind: str) -> None:
    """Computed of real numbers in double precision: single has 2146895999 at the next square."""
    g = Nodes(opset=18)
    x = g.rng.integers(-9, 10, (3, 5)).astype(kind)
    squares = np.array([[46334, 326, 0], [3, 4, 12]], kind)  # 2146945832, 169
    for op in ("ReduceL2", "ReduceL1", "ReduceSumSquare"):
        for axes in ([1], [0, 1]):
            g.add(op, [x, np.array(axes)], outputs=[kind], domain="", keepdims=0)
        g.add(op, [squares, np.array([1])], outputs=[kind], domain="")
    g.add("ReduceLogSum", [np.abs(x) + 1, np.array([1])], outputs=[kind], domain="")
    g.check(g.imported())
    g = Nodes(opset=18)
    given = np.array([[7, 7, 7], [-3, 20, 0], [2, 3, 1]], kind)
    g.add("ReduceLogSumExp", [given, np.array([1])], outputs=[kind], domain="", keepdims=0)
    (found,) = g.imported().values()
    assert found.tolist() == np.trunc(np.log(np.exp(given.astype(np.float64)).sum(1))).tolist()


def test_norms_of_unsigned_integers() -> None:
    """ONNX has them, onnxruntime does not."""
    g = Nodes(opset=18)
    x = np.array([[3, 4], [5, 12], [2, 2]])
    for kind in ("uint32", "uint64"):
        g.add("ReduceL2", [x.astype(kind), np.array([1])], outputs=[kind], domain="", keepdims=0)
        g.add("ReduceLogSum", [x.astype(kind), np.array([1])], outputs=[kind], domain="", keepdims=0)
    two, logs, *rest = (v.tolist() for v in g.imported().values())
    assert (two, logs) == ([5, 13, 2], [1, 2, 1])
    assert rest == [two, logs]


@pytest.mark.parametrize("corners", [0, 1])
def test_nearest_places_are_rounded_before_they_are_mirrored(corners: int) -> None:
    """In eighths, from far outside: half of the places lie between two pixels."""
    g = Nodes(opset=20)
    for extents in ((6, 8), (1, 5), (7, 1), (3, 4, 5)):
        x = g.floats(1, 2, *extents)
        grid = (g.rng.integers(-24, 25, (1, *extents, len(extents))) / 8).astype(np.float32)
        g.add(
            "GridSample", [x, grid], (0, 1), domain="", mode="nearest", padding_mode="reflection", align_corners=corners
        )
    g.check(g.imported())
    g.check(g.compiled())


@pytest.mark.parametrize("mode", ["linear", "cubic"])
def test_an_infinity_at_the_edge_stays_inside(mode: str) -> None:
    """A place beyond the image is made of zeros, not of parts of zero of the pixels at its edge."""
    g = Nodes(opset=20)
    x = g.floats(1, 1, 3, 5)
    x[0, 0, 2, 3] = np.inf
    grid = np.stack(np.meshgrid(np.arange(1, 8, 2) / 4, np.arange(1, 6, 2) / 3), -1)[None].astype(np.float32)
    g.add("GridSample", [x, grid], (0, 1), domain="", mode=mode, padding_mode="zeros")
    g.check(g.imported())
    g.check(g.compiled())


def test_an_infinity_beside_the_edge_that_a_place_is_on_stays_there() -> None:
    """The other pixel of a place on the edge has no part. It is the one at the edge, as PyTorch has it; onnxruntime has
    a part of zero of the mirror of the one beyond, which is no number where that is an infinity."""
    g = Nodes(opset=20)
    x = g.floats(1, 1, 3, 5)
    x[0, 0, 1, 3] = np.inf
    grid = np.array([[[[1, 0], [1, 1], [-1, 0]]]], np.float32)
    g.add("GridSample", [x, grid], (0, 1), domain="", mode="linear", padding_mode="reflection", align_corners=1)
    (ours,), (exact,) = g.compiled().values(), g.imported().values()
    np.testing.assert_allclose(ours, exact, rtol=1e-5)
    assert np.isfinite(ours).all()
