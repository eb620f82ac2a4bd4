"""The ops of language models and convolutional networks with extents that depend on symbols: what each gives, exactly,
without asking anything of the symbols, and that it has equations for all sizes."""

from __future__ import annotations

import re
from typing import Any

import pytest

from lamina.dialects.index.symbols import SymbolRange, Symbols
from lamina.dialects.infos import TensorInfo
from lamina.dialects.relay import find_op
from lamina.dialects.relay.base import RelayOp
from lamina.dialects.relay.meaning import full_attrs, te_func

RANGES = {"b": SymbolRange(1, 64), "s": SymbolRange(1, 4096), "p": SymbolRange(0, 4096)}
DTYPES = {"": "float32", "i64": "int64", "i32": "int32", "i1": "bool"}
FAR = 9223372036854775807
POOL = {"pool_size": (3, 3), "strides": (2, 2), "padding": (1, 1)}
HALVES = {"padding": (1, 1), "strides": (2, 2)}
ODD = {"begin": (0,), "end": (FAR,), "axes": (1,), "strides": (2,)}

CASES: list[tuple[str, str, dict[str, Any], str]] = [
    ("nn.dense", "[s, 64] [32, 64]", {}, "[s, 32]"),
    ("nn.dense", "[b, s, 64] [32, 64]", {}, "[b, s, 32]"),
    ("nn.matmul", "[s, 64] [64, 32]", {}, "[s, 32]"),
    ("nn.matmul", "[s, 64] [s, 64]", {"transpose_b": True}, "[s, s]"),
    ("nn.batch_matmul", "[8, s, 64] [8, s, 64]", {}, "[8, s, s]"),
    ("nn.batch_matmul", "[8, s, 64] [8, p + s, 64]", {}, "[8, s, p + s]"),
    ("nn.batch_matmul", "[8, s, p + s] [8, p + s, 64]", {"transpose_b": False}, "[8, s, 64]"),
    ("nn.batch_matmul", "[b, s, 64] [b, s, 64]", {}, "[b, s, s]"),
    ("nn.batch_matmul", "[b * 8, s, 64] [b * 8, s, 64]", {}, "[b * 8, s, s]"),
    ("nn.batch_matmul", "[b, s, 64] [1, 32, 64]", {}, "[b, s, 32]"),
    ("einsum", "[b, 8, s, 64] [b, 8, s, 64]", {"equation": "bhid,bhjd->bhij"}, "[b, 8, s, s]"),
    ("nn.softmax", "[b, 8, s, s]", {}, "[b, 8, s, s]"),
    ("nn.softmax", "[b, 8, s, s]", {"axis": -1}, "[b, 8, s, s]"),
    ("nn.log_softmax", "[s, 64]", {}, "[s, 64]"),
    ("nn.layer_norm", "[b, s, 64] [64] [64]", {}, "[b, s, 64]"),
    ("nn.instance_norm", "[b, 16, 8, 8] [16] [16]", {}, "[b, 16, 8, 8]"),
    ("nn.group_norm", "[b, 16, 8, 8] [16] [16]", {"num_groups": 4}, "[b, 16, 8, 8]"),
    ("nn.batch_norm", "[b, 16, 8, 8] [16] [16] [16] [16]", {}, "[b, 16, 8, 8]"),
    ("nn.bias_add", "[b, 16, 8, 8] [16]", {}, "[b, 16, 8, 8]"),
    ("nn.bias_add", "[s, 16] [16]", {"axis": -1}, "[s, 16]"),
    ("nn.prelu", "[b, 16, 8, 8] [16]", {}, "[b, 16, 8, 8]"),
    ("nn.conv2d", "[b, 16, 8, 8] [32, 16, 3, 3]", {"padding": (1, 1)}, "[b, 32, 8, 8]"),
    ("nn.conv2d", "[b, 16, s, s] [32, 16, 3, 3]", {"padding": (1, 1)}, "[b, 32, s, s]"),
    (
        "nn.conv2d",
        "[b, 16, s, s] [32, 16, 3, 3]",
        HALVES,
        "[b, 32, (s + 1) floordiv 2, (s + 1) floordiv 2]",
    ),
    ("nn.conv2d", "[b, 16, 8, 8] [16, 1, 3, 3]", {"padding": (1, 1), "groups": 16}, "[b, 16, 8, 8]"),
    ("nn.conv1d", "[b, 16, s] [32, 16, 3]", {"padding": (1,)}, "[b, 32, s]"),
    ("nn.conv2d_transpose", "[b, 16, 8, 8] [16, 32, 3, 3]", {}, "[b, 32, 10, 10]"),
    ("nn.max_pool2d", "[b, 16, 8, 8]", POOL, "[b, 16, 4, 4]"),
    ("nn.avg_pool2d", "[b, 16, 8, 8]", POOL, "[b, 16, 4, 4]"),
    (
        "nn.max_pool2d",
        "[b, 16, s, s]",
        POOL,
        "[b, 16, (s + 1) floordiv 2, (s + 1) floordiv 2]",
    ),
    ("nn.global_avg_pool2d", "[b, 16, 8, 8]", {}, "[b, 16, 1, 1]"),
    ("nn.global_avg_pool2d", "[b, 16, s, s]", {}, "[b, 16, 1, 1]"),
    ("nn.adaptive_avg_pool2d", "[b, 16, 8, 8]", {"output_size": (1, 1)}, "[b, 16, 1, 1]"),
    ("nn.batch_flatten", "[b, 16, 8, 8]", {}, "[b, 1024]"),
    ("nn.upsampling", "[b, 16, 8, 8]", {"scale_h": 2.0, "scale_w": 2.0}, "[b, 16, 16, 16]"),
    ("nn.lrn", "[b, 16, 8, 8]", {}, "[b, 16, 8, 8]"),
    ("reshape", "[b, s, 512]", {"newshape": (0, 0, 8, 64)}, "[b, s, 8, 64]"),
    ("reshape", "[b, s, 512]", {"newshape": (0, -1, 8, 64)}, "[b, s, 8, 64]"),
    ("reshape", "[b, s, 512]", {"newshape": (-1, 512)}, "[b*s, 512]"),
    ("reshape", "[s, 512]", {"newshape": (1, -1, 8, 64)}, "[1, s, 8, 64]"),
    ("reshape", "[b, 8, s, 64]", {"newshape": (-3, 0, 0)}, "[b * 8, s, 64]"),
    ("reshape", "[b, 8, s, 64]", {"newshape": (-3, -2)}, "[b * 8, s, 64]"),
    ("reshape", "[b*s, 512]", {"newshape": (-1, 8, 64)}, "[b*s, 8, 64]"),
    ("reshape", "[b * 8, s, 64]", {"newshape": (-4, -1, 8, 0, 0)}, "[b, 8, s, 64]"),
    ("reshape", "[b, 16, 8, 8]", {"newshape": (0, -1)}, "[b, 1024]"),
    ("reshape", "[b, 16, 1, 1]", {"newshape": (-1, 16)}, "[b, 16]"),
    ("transpose", "[b, s, 8, 64]", {"axes": (0, 2, 1, 3)}, "[b, 8, s, 64]"),
    ("concatenate", "[b, 8, p, 64] [b, 8, s, 64]", {"axis": 2}, "[b, 8, p + s, 64]"),
    ("concatenate", "[b, 1, 64] [b, s, 64]", {"axis": 1}, "[b, s + 1, 64]"),
    ("stack", "[b, s] [b, s]", {"axis": 0}, "[2, b, s]"),
    ("split", "[b, s, 96]", {"indices_or_sections": 3, "axis": 2}, "[b, s, 32] [b, s, 32] [b, s, 32]"),
    ("split", "[b, s, 96]", {"indices_or_sections": (32, 64), "axis": -1}, "[b, s, 32] [b, s, 32] [b, s, 32]"),
    ("strided_slice", "[b, s, 96]", {"begin": (0,), "end": (32,), "axes": (2,)}, "[b, s, 32]"),
    ("strided_slice", "[b, s, 96]", {"begin": (0, 0), "end": (FAR, 1), "axes": (0, 1)}, "[b, 1, 96]"),
    ("strided_slice", "[b, s, 96]", {"begin": (-1,), "end": (FAR,), "axes": (1,)}, "[b, 1, 96]"),
    ("strided_slice", "[b, s, 96]", {"begin": (0,), "end": (-1,), "axes": (1,)}, "[b, s - 1, 96]"),
    ("strided_slice", "[b, s, 96]", {"begin": (1,), "end": (FAR,), "axes": (1,)}, "[b, s - 1, 96]"),
    (
        "strided_slice",
        "[b, s, 96]",
        {"begin": (0,), "end": (FAR,), "axes": (1,), "strides": (2,)},
        "[b, (s + 1) floordiv 2, 96]",
    ),
    ("strided_slice", "[b, s, 96]", {"begin": (-1,), "end": (-FAR,), "axes": (1,), "strides": (-1,)}, "[b, s, 96]"),
    ("strided_slice", "[b, s, 96]", {"begin": (0, 0, 0), "end": (-1, -1, 32), "slice_mode": "size"}, "[b, s, 32]"),
    ("take", "[1000, 64] i64[b, s]", {"axis": 0}, "[b, s, 64]"),
    ("take", "[b, s, 64] i64[]", {"axis": 1}, "[b, 64]"),
    ("take", "[b, s, 64] i64[]", {"axis": 1, "mode": "wrap"}, "[b, 64]"),
    ("gather", "[b, s] i64[b, s]", {"axis": 1}, "[b, s]"),
    ("gather_nd", "[b, s, 64] i64[2, b]", {}, "[b, 64]"),
    ("one_hot", "i64[b, s] [] []", {"depth": 10}, "[b, s, 10]"),
    ("where", "i1[b, 1, 1, s] [b, 8, s, s] []", {}, "[b, 8, s, s]"),
    ("where", "i1[s, s] [b, 8, s, s] []", {}, "[b, 8, s, s]"),
    ("add", "[b, 8, s, s] [b, 1, 1, s]", {}, "[b, 8, s, s]"),
    ("add", "[b, s, 64] [s, 64]", {}, "[b, s, 64]"),
    ("add", "[b, s, 64] [1, s, 64]", {}, "[b, s, 64]"),
    ("add", "[b, s, 1] [b, s, 64]", {}, "[b, s, 64]"),
    ("mean", "[b, s, 64]", {"axis": (-1,), "keepdims": True}, "[b, s, 1]"),
    ("mean", "[b, s, 64]", {"axis": (1,)}, "[b, 64]"),
    ("variance", "[b, s, 64] [b, s, 1]", {"axis": (-1,), "keepdims": True}, "[b, s, 1]"),
    ("sum", "[b, s, 64]", {"axis": (1,)}, "[b, 64]"),
    ("max", "[b, s, 64]", {"axis": (1,)}, "[b, 64]"),
    ("argmax", "[b, s, 64]", {"axis": (1,)}, "[b, 64]"),
    ("argmax", "[b, 1000]", {"axis": (1,)}, "[b]"),
    ("topk", "[b, 1000]", {"k": 5, "axis": -1}, "[b, 5] [b, 5]"),
    ("sort", "[b, 1000]", {"axis": -1}, "[b, 1000]"),
    ("argsort", "[b, 1000]", {"axis": -1}, "[b, 1000]"),
    ("cumsum", "[b, s]", {"axis": 1}, "[b, s]"),
    ("expand_dims", "[b, s]", {"axis": 1}, "[b, 1, s]"),
    ("squeeze", "[b, 1, s]", {"axis": (1,)}, "[b, s]"),
    ("broadcast_to_like", "[b, 1, 64] [b, s, 64]", {}, "[b, s, 64]"),
    ("cast", "[b, s]", {"dtype": "int32"}, "[b, s]"),
    ("repeat", "[b, 8, s]", {"repeats": 2, "axis": 1}, "[b, 16, s]"),
    ("zeros_like", "[b, s]", {}, "[b, s]"),
    ("full_like", "[b, s] []", {}, "[b, s]"),
    ("clip", "[b, s]", {"a_min": 0.0, "a_max": 1.0}, "[b, s]"),
    ("reverse", "[b, s]", {"axis": 1}, "[b, s]"),
    ("reverse_sequence", "[s, b, 4] i64[b]", {"seq_axis": 0, "batch_axis": 1}, "[s, b, 4]"),
    ("slice_like", "[b, 4096, 8] [b, s, 8]", {"axes": (1,)}, "[b, s, 8]"),
    ("nn.depth_to_space", "[b, 16, 8, 8]", {"block_size": 2}, "[b, 4, 16, 16]"),
    ("nn.space_to_depth", "[b, 16, 8, 8]", {"block_size": 2}, "[b, 64, 4, 4]"),
    ("layout_transform", "[b, 16, 8, 8]", {"src_layout": "NCHW", "dst_layout": "NCHW8c"}, "[b, 2, 8, 8, 8]"),
    ("scatter_elements", "[b, s] i64[b, 4] [b, 4]", {"axis": 1}, "[b, s]"),
    ("matrix_set_diag", "[b, s, s] [b, s]", {}, "[b, s, s]"),
    ("sequence_mask", "[s, b] i32[b]", {}, "[s, b]"),
    ("nn.contrib_dense_pack", "[b, s, 64] [2, 64, 16]", {"units": 32, "weight_layout": "NK16n"}, "[b, s, 32]"),
    ("squeeze", "[2, 1, s]", {"axis": (1,)}, "[2, s]"),
    ("nn.pad", "[b, s, 8]", {"pad_width": (0, 0, 1, 2, 0, 0)}, "[b, s + 3, 8]"),
    ("reshape", "[b*s, 512]", {"newshape": (-1, 8, 64)}, "[b*s, 8, 64]"),
]


def infos(text: str, symbols: Symbols) -> list[TensorInfo]:
    found: list[TensorInfo] = []
    for dtype, dims in re.findall(r"(\w*)\[([^\]]*)\]", text):
        shape = tuple(symbols.extent(d) if not d.isdigit() else int(d) for d in dims.split(", ") if d)
        found.append(TensorInfo(shape, DTYPES[dtype]))
    return found


@pytest.mark.parametrize(("name", "operands", "attrs", "expected"), CASES)
def test_result_is_exact_for_all_sizes(name: str, operands: str, attrs: dict[str, Any], expected: str) -> None:
    op_type: Any = find_op(f"relay.{name}")
    assert issubclass(op_type, RelayOp)
    symbols = Symbols(RANGES)
    given = infos(operands, symbols)
    found = op_type.infer_infos(given, full_attrs(op_type, attrs))
    assert " ".join(f"[{', '.join(map(str, i.shape))}]" for i in found) == expected
    assert not symbols.guards
    te_func(op_type, given, attrs, symbols=symbols).verify()
