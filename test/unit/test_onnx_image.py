"""Operators on regions and boxes in ONNX models: against ONNX's own cases and plain loops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper

from lamina.errors import InputError
from lamina.frontends.onnx import convert_resize, load_onnx
from lamina.frontends.onnx.builder import NeedsValueError
from lamina.interpreters.relay_reference import main_function, run_relay
from tools.conformance.cases import all_cases

pytestmark = pytest.mark.slow

Array = np.ndarray[Any, Any]


def model_of(op: str, inputs: dict[str, Array], output: Any, **attributes: Any) -> ModelProto:
    """A model of one node."""
    node = helper.make_node(op, list(inputs), ["y"], **attributes)
    ports = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape)
        for name, a in inputs.items()
    ]
    result = helper.make_tensor_value_info("y", *output)
    graph = helper.make_graph([node], "g", ports, [result])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])


def boxes_and_scores() -> dict[str, Array]:
    random = np.random.default_rng(3)
    return {
        "boxes": random.uniform(0, 1, (2, 9, 4)).astype(np.float32),
        "scores": random.uniform(0, 1, (2, 3, 9)).astype(np.float32),
        "most": np.asarray([4], np.int64),
        "iou": np.asarray([0.3], np.float32),
        "least": np.asarray([0.4], np.float32),
    }


def test_boxes_are_chosen_as_onnx_expects() -> None:
    count = 0
    for case in all_cases():
        if case.operator != "NonMaxSuppression" or case.model is None:
            continue
        for given, (expected,) in case.sets:
            values = dict(zip([i.name for i in case.model.graph.input], given, strict=True))
            imported = load_onnx(case.model, values=values)
            (rows,) = run_relay(main_function(imported.module), [], imported.store)
            np.testing.assert_array_equal(rows, expected, case.name)
            count += 1
    assert count >= 10


def test_choosing_no_boxes_gives_no_rows() -> None:
    given = {**boxes_and_scores(), "most": np.asarray([0], np.int64)}
    imported = load_onnx(model_of("NonMaxSuppression", given, (TensorProto.INT64, [None, 3])), values=given)
    (rows,) = run_relay(main_function(imported.module), [], imported.store)
    assert rows.shape == (0, 3)


def test_boxes_that_are_computed_would_have_to_be_fixed() -> None:
    given = boxes_and_scores()
    model = model_of("NonMaxSuppression", given, (TensorProto.INT64, [None, 3]))
    fixed = {name: a for name, a in given.items() if name != "boxes"}
    with pytest.raises(NeedsValueError, match="how many of the boxes are chosen") as raised:
        load_onnx(model, values=fixed, machine=False)
    assert raised.value.names == ("boxes",)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("iou", np.asarray([1.5], np.float32), "iou_threshold is 1.5, expects 0 to 1"),
        ("most", np.asarray([1, 2], np.int64), "max_output_boxes_per_class is one number"),
        ("scores", np.zeros((2, 3, 8), np.float32), "expects boxes [N, B, 4] and scores [N, C, B]"),
    ],
)
def test_thresholds_and_boxes_that_make_no_sense(name: str, value: Array, message: str) -> None:
    given = {**boxes_and_scores(), name: value}
    model = model_of("NonMaxSuppression", given, (TensorProto.INT64, [None, 3]))
    with pytest.raises(InputError) as raised:
        load_onnx(model, values=given)
    assert message in str(raised.value)


def test_regions_are_pooled_pixel_by_pixel() -> None:
    random = np.random.default_rng(7)
    x = random.uniform(-1, 1, (2, 3, 8, 9)).astype(np.float32)
    rois = np.asarray([[0, 0, 0, 15, 11], [1, 4, 2, 5, 9], [1, 13, 3, 8, 40]], np.float32)
    given = {"x": x, "rois": rois}
    model = model_of("MaxRoiPool", given, (TensorProto.FLOAT, [3, 3, 2, 3]), pooled_shape=[2, 3], spatial_scale=0.5)
    imported = load_onnx(model)
    (pooled,) = run_relay(main_function(imported.module), [x, rois], imported.store)
    for r, (image, *corners) in enumerate(rois):
        left, top, right, bottom = (int(c * 0.5 + 0.5) for c in corners)
        wide, high = max(right - left + 1, 1), max(bottom - top + 1, 1)
        for i in range(2):
            for j in range(3):
                rows = [h for h in range(8) if top + i * high // 2 <= h < top - (-(i + 1) * high // 2)]
                columns = [w for w in range(9) if left + j * wide // 3 <= w < left - (-(j + 1) * wide // 3)]
                part = x[int(image)][:, rows][:, :, columns]
                expected = part.max((1, 2)) if part.size else 0
                np.testing.assert_array_equal(pooled[r, :, i, j], expected)


MODES = ("nearest", "linear", "cubic")
COORDINATES = (
    *("half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel", "half_pixel_symmetric", "tf_crop_and_resize"),
)
ROUNDINGS = ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")


def resize_of(random: np.random.Generator) -> tuple[ModelProto, Array]:
    """A Resize of whole sizes, each attribute drawn."""
    rank = int(random.integers(3, 6))
    x = random.uniform(-1, 1, (1, 2, *random.integers(1, 7, rank - 2))).astype(np.float32)
    sizes = [1, 2, *map(int, random.integers(1, 9, rank - 2))]
    roi = [*[0.0] * 2, *random.uniform(-0.3, 0.6, rank - 2), *[1.0] * 2, *random.uniform(0.4, 1.3, rank - 2)]
    weights = [
        helper.make_tensor("roi", TensorProto.FLOAT, [2 * rank], roi),
        helper.make_tensor("sizes", TensorProto.INT64, [rank], sizes),
    ]
    node = helper.make_node(
        "Resize",
        ["x", "roi", "", "sizes"],
        ["y"],
        mode=str(random.choice(MODES)),
        coordinate_transformation_mode=str(random.choice(COORDINATES)),
        nearest_mode=str(random.choice(ROUNDINGS)),
        cubic_coeff_a=float(random.choice([-0.75, -0.5])),
        exclude_outside=int(random.integers(0, 2)),
        extrapolation_value=float(random.choice([0.0, 5.0])),
    )
    ports = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in ("x", "y")]
    graph = helper.make_graph([node], "g", [ports[0]], [ports[1]], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)]), x


def no_image(*_: Any, **__: Any) -> None:
    """Nothing is an op on images: matrices do it."""


@pytest.mark.filterwarnings("ignore:invalid value")  # weights of places outside the image, where another number stands
def test_resize_is_the_op_on_images_with_the_numbers_of_its_matrices(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(1)
    ops = 0
    for _ in range(150):
        model, x = resize_of(random)
        results: list[Array] = []
        for by_matrices in (False, True):
            with monkeypatch.context() as patch:
                if by_matrices:
                    patch.setattr(convert_resize, "resized_image", no_image)
                imported = load_onnx(model, {"x": x.shape})
            names = [op.name for op in imported.module.walk()]
            ops += any(n.startswith("relay.image.resize") for n in names)
            results.append(run_relay(main_function(imported.module), [x], imported.store)[0])
        np.testing.assert_allclose(results[0], results[1], rtol=1e-4, atol=1e-4, err_msg=str(model.graph.node[0]))
    assert ops > 80
