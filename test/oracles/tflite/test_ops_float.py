"""Operators on floats, integers and booleans give the results of LiteRT's reference kernels."""

# pyright: basic, reportMissingImports=false, reportAttributeAccessIssue=false

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

pytest.importorskip("ai_edge_litert")
pytest.importorskip("tflite")

from litert import check, draw  # noqa: E402
from tflite_build import Graph, Op, T, build, one  # noqa: E402

import lamina  # noqa: E402
from lamina.errors import UnsupportedError  # noqa: E402


@dataclass
class Case:
    """An operator on drawn data."""

    data: bytes
    inputs: list[Any]
    tolerance: float
    reference: bool


CASES: dict[str, Case] = {}


def case(
    op: str, *given: Any, out: str | Sequence[str] = "float32", tag: str = "", tolerance: float = 1e-5,
    shape: Sequence[int] = (1,), reference: bool = True, **options: Any,
) -> None:  # fmt: skip
    """Enter a case: arrays are inputs, tensors constants; of most operators LiteRT infers the shapes of the results."""
    kinds = [out] if isinstance(out, str) else list(out)
    operands = [g if isinstance(g, T) or g is None else T(g.shape, str(g.dtype)) for g in given]
    data = one(op, operands, [T(shape, kind) for kind in kinds], **options)
    name = f"{op}-{tag or sum(k.startswith(op + '-') for k in CASES)}"
    assert name not in CASES
    inputs: list[Any] = [np.array(g) for g in given if type(g) is np.ndarray]
    CASES[name] = Case(data, inputs, tolerance, reference)


def ints(*values: int) -> T:
    return T.of(np.array(values, np.int32))


X, Y = draw((2, 3, 4)), draw((3, 1), seed=1)
N, M = draw((2, 3, 4), "int32", low=-20, high=20), draw((4,), "int32", seed=1, low=1, high=6)
P, Q = draw((2, 3), "bool"), draw((3,), "bool", seed=1)
IMAGE = draw((2, 7, 6, 4), seed=2)

for op in ("ADD", "SUB", "MUL", "DIV"):
    for activation in ("NONE", "RELU", "RELU6", "RELU_N1_TO_1"):
        case(op, X, Y + (3 if op == "DIV" else 0), tag=f"float-{activation}", fused_activation_function=activation)
    case(op, N, M, out="int32", tag="int32")
for op in ("MAXIMUM", "MINIMUM", "SQUARED_DIFFERENCE"):
    case(op, X, Y)
    case(op, N, M, out="int32")
case("FLOOR_DIV", X, np.abs(Y) + 1)
case("FLOOR_DIV", N, M, out="int32")
case("FLOOR_MOD", X * 3, Y + 3)
case("FLOOR_MOD", N, M, out="int32")
case("POW", np.abs(X) + 0.1, Y)
case("POW", np.abs(N), M, out="int32")
case("ATAN2", X, draw((2, 3, 4), seed=5))
case("ADD_N", X, X + 1, X * 2)
for op in ("EQUAL", "NOT_EQUAL", "LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL"):
    case(op, X.round(), Y.round(), out="bool")
    case(op, N, M, out="bool")
for op in ("LOGICAL_AND", "LOGICAL_OR"):
    case(op, P, Q, out="bool")
case("LOGICAL_NOT", P, out="bool")
case("BITWISE_XOR", N, M, out="int32")
case("RIGHT_SHIFT", N, M, out="int32")
for op in ("ABS", "NEG", "EXP", "SIN", "COS", "CEIL", "FLOOR", "ROUND", "SIGN", "SQUARE", "TANH", "LOGISTIC"):
    case(op, X * 3)
for op in ("LOG", "SQRT", "RSQRT"):
    case(op, np.abs(X) + 0.1)
case("ROUND", np.array([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 0.49999997], np.float32), tag="halves")
case("ABS", N, out="int32", tag="int32")
case("NEG", N, out="int32", tag="int32")
case("ZEROS_LIKE", X)
for kind in ("int32", "int64", "uint8", "int8", "bool", "float16"):
    case("CAST", X * 10 if kind != "uint8" else np.abs(X), out=kind, tag=f"to-{kind}")
case("CAST", N, tag="from-int32")
case("CAST", P, tag="from-bool")
case("FAKE_QUANT", X, min=-1.1, max=1.7, num_bits=8)
case("FAKE_QUANT", X, min=-1.1, max=1.7, num_bits=4)
case("DEQUANTIZE", T.of(X, "float16"))

case("RELU", X)
case("RELU6", X * 5)
case("RELU_N1_TO_1", X)
case("RELU_0_TO_1", X)
case("LEAKY_RELU", X, alpha=0.2)
case("PRELU", X, T.of(draw((1, 1, 4), seed=3)))
case("PRELU", X, T.of(draw((2, 3, 4), seed=3)))
case("PRELU", X, T.of(draw((3, 1), seed=3)))
case("ELU", X)
case("GELU", X * 2, approximate=True)
case("GELU", X * 2, approximate=False)
case("HARD_SWISH", X * 3)
case("SOFTMAX", X, beta=1.0)
case("SOFTMAX", X, beta=0.5)
case("LOG_SOFTMAX", X)

for padding in ("SAME", "VALID"):
    more: dict[str, Any] = {"padding": padding, "stride_h": 2, "stride_w": 1}
    bias = T.of(draw((8,), seed=3))
    case("CONV_2D", IMAGE, T.of(draw((8, 3, 3, 4), seed=1)), bias, tag=padding, **more)
    case("CONV_2D", IMAGE, T.of(draw((8, 3, 3, 2), seed=1)), bias, tag=f"{padding}-groups", **more)
    case("DEPTHWISE_CONV_2D", IMAGE, T.of(draw((1, 3, 3, 8), seed=1)), bias, tag=padding, depth_multiplier=2,
         fused_activation_function="RELU6", **more)  # fmt: skip
    case("DEPTHWISE_CONV_2D", IMAGE, T.of(draw((1, 2, 3, 4), seed=1)), T.of(draw((4,))), tag=f"{padding}-single",
         depth_multiplier=1, padding=padding, stride_h=2, stride_w=2)  # fmt: skip
    wide: dict[str, Any] = {
        "padding": padding,
        "stride_h": 1,
        "stride_w": 1,
        "dilation_h_factor": 2,
        "dilation_w_factor": 2,
    }
    case("CONV_2D", IMAGE, T.of(draw((8, 3, 3, 4), seed=1)), bias, tag=f"{padding}-dilated", **wide)
    for op in ("MAX_POOL_2D", "AVERAGE_POOL_2D", "L2_POOL_2D"):
        case(op, IMAGE, tag=padding, filter_height=3, filter_width=2, fused_activation_function="RELU", **more)
    strides: dict[str, Any] = {"stride_d": 1, "stride_h": 2, "stride_w": 2}
    case("CONV_3D", draw((1, 4, 5, 6, 3)), T.of(draw((2, 3, 3, 3, 5), seed=1)), T.of(draw((5,))), tag=padding,
         padding=padding, **strides)  # fmt: skip
    shape = ints(2, 14, 11, 5) if padding == "SAME" else ints(2, 15, 13, 5)
    case("TRANSPOSE_CONV", shape, T.of(draw((5, 3, 3, 4), seed=1)), IMAGE, tag=padding, padding=padding, stride_h=2,
         stride_w=2)  # fmt: skip
    case("TRANSPOSE_CONV", shape, T.of(draw((5, 3, 3, 4), seed=1)), IMAGE, T.of(draw((5,))), tag=f"{padding}-bias",
         padding=padding, stride_h=2, stride_w=2)  # fmt: skip
    cube = ints(1, 4, 8, 6, 5) if padding == "SAME" else ints(1, 5, 9, 7, 5)
    case("CONV_3D_TRANSPOSE", cube, T.of(draw((2, 3, 3, 5, 4), seed=1)), draw((1, 4, 4, 3, 4)), T.of(draw((5,))),
         tag=padding, padding=padding, **strides)  # fmt: skip
case("FULLY_CONNECTED", draw((2, 3, 8)), T.of(draw((5, 8), seed=1)), T.of(draw((5,))))
case("FULLY_CONNECTED", draw((2, 3, 8)), T.of(draw((5, 8), seed=1)), None, keep_num_dims=True,
     fused_activation_function="RELU")  # fmt: skip
case("BATCH_MATMUL", draw((2, 1, 3, 4)), draw((5, 4, 6), seed=1))
case("BATCH_MATMUL", draw((2, 4, 3)), draw((2, 6, 4), seed=1), adj_x=True, adj_y=True)
# The reference kernel leaves the last channel within the radius out, the others and TensorFlow do not.
case("LOCAL_RESPONSE_NORMALIZATION", IMAGE, reference=False, radius=1, bias=1.0, alpha=0.3, beta=0.7)
case("L2_NORMALIZATION", X)

for op in ("SUM", "MEAN", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_PROD"):
    case(op, X, ints(1, -1), keep_dims=True)
    case(op, X, ints(0), keep_dims=False)
    case(op, draw((2, 3, 2), "int32", low=-3, high=3), ints(1), out="int32", tag="int32")
for op in ("REDUCE_ANY", "REDUCE_ALL"):
    case(op, P, ints(1), out="bool", keep_dims=False)
for op in ("ARG_MAX", "ARG_MIN"):
    case(op, X.round(), ints(-1), out="int32", output_type=2)
    case(op, N, T.of(np.int32(1)), out="int64", output_type=4)
case("CUMSUM", X, T.of(np.int32(1)))
case("CUMSUM", X, T.of(np.int32(-1)), exclusive=True, reverse=True)
case("TOPK_V2", X.round(), T.of(np.int32(3)), out=("float32", "int32"))

case("RESHAPE", X, ints(4, -1), new_shape=[4, -1])
case("SQUEEZE", draw((1, 3, 1, 2)), squeeze_dims=[0])
case("SQUEEZE", draw((1, 3, 1, 2)), squeeze_dims=[])
case("EXPAND_DIMS", X, T.of(np.int32(-2)))
case("SHAPE", X, out="int32", out_type=2)
case("RANK", X, out="int32")
case("TRANSPOSE", X, ints(2, 0, 1))
case("BROADCAST_TO", Y, ints(2, 3, 4))
case("BROADCAST_ARGS", ints(2, 1, 3), ints(4, 1), out="int32")
case("TILE", X, ints(1, 2, 3))
case("FILL", ints(2, 3), T.of(np.float32(1.5)))
case("RANGE", T.of(np.float32(1)), T.of(np.float32(3.1)), T.of(np.float32(0.5)))
case("RANGE", T.of(np.int32(9)), T.of(np.int32(0)), T.of(np.int32(-2)), out="int32")
case("CONCATENATION", X, X * 2, axis=-1)
case("PACK", X, X * 2, axis=1, values_count=2)
case("UNPACK", X, out=["float32"] * 3, axis=1, num=3)
case("SPLIT", T.of(np.int32(2)), X, out=["float32"] * 2, num_splits=2)
case("SPLIT_V", X, ints(1, -1), T.of(np.int32(1)), out=["float32"] * 2, num_splits=2)
WIDTHS = T.of(np.array([[0, 1], [2, 0], [1, 1]], np.int32))
case("PAD", X, WIDTHS)
case("PADV2", X, WIDTHS, T.of(np.float32(1.5)))
case("MIRROR_PAD", X, WIDTHS, mode=0)
case("MIRROR_PAD", X, WIDTHS, mode=1)
case("DEPTH_TO_SPACE", draw((1, 2, 3, 8)), block_size=2)
case("SPACE_TO_DEPTH", draw((1, 4, 6, 3)), block_size=2)
case("SPACE_TO_BATCH_ND", draw((1, 4, 5, 3)), ints(2, 3), T.of(np.array([[0, 2], [1, 0]], np.int32)))
case("BATCH_TO_SPACE_ND", draw((6, 2, 3, 3)), ints(2, 3), T.of(np.array([[0, 1], [2, 1]], np.int32)))
case("REVERSE_V2", X, ints(1))
case("REVERSE_SEQUENCE", X, T.of(np.array([2, 3], np.int32)), seq_dim=1, batch_dim=0)

case("SLICE", X, ints(0, 1, 1), ints(2, 1, -1), shape=(2, 1, 3))
case("SLICE", X, np.array([1, 0, 1], np.int32), ints(1, 3, 2), tag="computed", shape=(1, 3, 2))
case("STRIDED_SLICE", X, ints(0, 2, 0), ints(2, 0, 4), ints(1, -1, 2))
case("STRIDED_SLICE", X, ints(1, 0), ints(2, 2), ints(1, 1), shrink_axis_mask=1, end_mask=2)
case("STRIDED_SLICE", X, ints(0, 0, 1), ints(0, 0, 3), ints(1, 1, 1), ellipsis_mask=1, new_axis_mask=2)
case("STRIDED_SLICE", X, ints(0, 1, 2), ints(2, 2, 1), ints(1, 1, 1), offset=True, tag="offset")
case("DYNAMIC_UPDATE_SLICE", X, draw((1, 3, 2), seed=4), np.array([1, 1, 3], np.int32))

case("GATHER", X, T.of(np.array([[2, 0], [1, 1]], np.int32)), axis=1)
case("GATHER", X, np.array([[2, 0], [1, 1]], np.int32), axis=1, batch_dims=1)
case("GATHER_ND", X, np.array([[[1, 2], [0, 0]], [[1, 1], [0, 1]]], np.int32))
case("EMBEDDING_LOOKUP", np.array([2, 0, 2], np.int32), T.of(draw((3, 4))))
case("SCATTER_ND", np.array([[1], [3], [1]], np.int32), draw((3, 4)), ints(5, 4))
case("ONE_HOT", np.array([2, 0, 5], np.int32), T.of(np.int32(4)), T.of(np.float32(2)), T.of(np.float32(-1)), axis=0)
case("SPARSE_TO_DENSE", T.of(np.array([[0, 1], [1, 2]], np.int32)), ints(2, 3), T.of(draw((2,))), T.of(np.float32(9)))
case("SELECT", P, draw((2, 3)), draw((2, 3), seed=1))
case("SELECT", draw((2,), "bool", seed=7), draw((2, 3)), draw((2, 3), seed=1))
case("SELECT_V2", Q, draw((2, 3)), draw((2, 1), seed=1))
case("MATRIX_DIAG", draw((2, 3)))
case("MATRIX_SET_DIAG", draw((2, 3, 4)), draw((2, 3), seed=1))
case("BUCKETIZE", X, out="int32", boundaries=[])
case("SEGMENT_SUM", X, T.of(np.array([0, 1], np.int32)))
for op in ("SUM", "PROD", "MAX", "MIN"):
    case(f"UNSORTED_SEGMENT_{op}", draw((4, 3)), T.of(np.array([1, 0, 1, 3], np.int32)), T.of(np.int32(5)))

for method in ("BILINEAR", "NEAREST_NEIGHBOR"):
    for size in ((14, 12), (5, 9), (3, 1)):
        for corners, middles in ((False, False), (True, False), (False, True)):
            case(f"RESIZE_{method}", IMAGE, ints(*size), tag=f"{size[0]}-{corners}-{middles}", align_corners=corners,
                 half_pixel_centers=middles)  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_operator(name: str) -> None:
    found = CASES[name]
    check(found.data, found.inputs, found.tolerance, found.reference)


def test_where_and_unique_of_constants() -> None:
    flags, x = T.of(np.array([[True, False], [True, True]])), T.of(np.array([5, 2, 5, 9], np.int32))
    places, values, index = T((3, 2), "int64"), T((3,), "int32"), T((4,), "int32")
    n = T((1,))
    ops = [Op("WHERE", [flags], [places]), Op("UNIQUE", [x], [values, index], {"idx_out_type": 2})]
    check(build(Graph([n], [places, values, index, n], ops)), [draw((1,))])


def test_where_and_unique_of_what_is_computed() -> None:
    flags, places = T((3, 4), "bool"), T((1, 2), "int64")
    check(one("WHERE", [flags], [places]), [draw((3, 4), "bool", seed=3)])
    x, values, index = T((9,), "int32"), T((1,), "int32"), T((9,), "int32")
    data = one("UNIQUE", [x], [values, index], idx_out_type=2)
    check(data, [np.array([5, 2, 5, 9, 2, 2, -1, 9, 0], np.int32)])


def test_what_is_sized_by_values_is_for_outputs_alone() -> None:
    flags, places, y = T((3, 4), "bool"), T((1, 2), "int64"), T((1, 2), "int64")
    ops = [Op("WHERE", [flags], [places]), Op("NEG", [places], [y])]
    with pytest.raises(
        UnsupportedError, match=r"NEG \"t2\": takes int64\[-1, 2\], whose size is known at run time only"
    ):
        lamina.load(build(Graph([flags], [y], ops)))
