"""Attention as onnxruntime spells it, against onnxruntime: masks, biases, states, shared heads, rotary embeddings.

The imported graphs are run by the numpy oracles of their ops; some are compiled.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import helper

import lamina
from lamina.errors import LaminaError
from lamina.frontends.onnx import load_onnx

sys.path.insert(0, str(Path(__file__).resolve().parent))

from contributed_nodes import Nodes  # noqa: E402

pytestmark = pytest.mark.slow

F32 = "float32"
RAGGED = np.array([[1, 0, 1], [0, 0, 0]], np.int32)
"""A mask of two rows of three; the second sees nothing, and then everything alike."""


def whole(g: Nodes, batch: int = 2, length: int = 3, width: int = 8, heads: int = 2, **more: Any) -> None:
    """An Attention node: `mask`, `bias`, `past` (a length) and `values` (their width) are no attributes."""
    mask, bias, past, values = (more.pop(n, None) for n in ("mask", "bias", "past", "values"))
    values = values or width
    projection = [g.floats(width, 2 * width + values) * np.float32(0.4), g.floats(2 * width + values)]
    states = None if past is None else g.floats(2, batch, heads, past, width // heads)
    outputs = [F32] * (1 + (past is not None or more.pop("present", False)))
    inputs = [g.floats(batch, length, width), *projection, mask, states, bias]
    g.add("Attention", inputs, given=(0, 3, 4, 5), outputs=outputs, num_heads=heads, **more)


def test_self_attention() -> None:
    g = Nodes(2)
    whole(g)
    whole(g, scale=0.3, unidirectional=1)
    whole(g, values=12, qkv_hidden_sizes=[8, 8, 12])
    whole(g, present=True)
    for mask in (
        np.array([2, 0], np.int32),
        np.array([3, 2, 1, 0], np.int32),
        RAGGED,
        RAGGED[:, :1],
        RAGGED[:1, :1] * 0,
    ):
        whole(g, mask=mask)
    whole(g, mask=g.rng.integers(-1, 3, (2, 3, 3)).astype(np.int32), mask_filter_value=-50.0)
    whole(g, mask=RAGGED, unidirectional=1)
    for shape in ((1, 2, 3, 3), (2, 1, 3, 3), (1, 1, 3, 3), (2, 2, 3, 3)):
        whole(g, bias=g.floats(*shape))
    for past in (0, 2):
        whole(g, past=past)
        whole(g, past=past, unidirectional=1, mask=np.array([[1] * (past + 2) + [0]] * 2, np.int32))
    g.check(g.imported(), 2e-5)


def test_self_attention_of_bytes() -> None:
    g = Nodes(6)
    for kind in ("int8", "uint8"):
        forms: list[dict[str, Any]] = [{}, {"mask": np.array([2, 3], np.int32)}, {"mask": RAGGED}]
        for more in (*forms, dict[str, Any](past=2, unidirectional=1)):
            per_column, mask, past = not more, more.pop("mask", None), more.pop("past", 0)
            scale = g.rng.uniform(0.005, 0.02, 24).astype(np.float32) if per_column else np.float32(0.01)
            zeros = (
                [np.uint8(120), g.bytes_(kind, 24) if per_column else g.bytes_(kind)] if kind == "int8" else [None] * 2
            )
            states = g.floats(2, 2, 2, past, 4) if past else None
            inputs = [g.bytes_("uint8", 2, 3, 8), g.bytes_(kind, 8, 24), g.floats(24), np.float32(0.02), scale]
            outputs = [F32] * (2 if past else 1)
            g.add("QAttention", [*inputs, mask, *zeros, states], given=(0, 5, 8), outputs=outputs, num_heads=2, **more)
    g.check(g.imported(), 2e-5)


def projected(g: Nodes, keys: tuple[int, ...] = (2, 5, 8), **more: Any) -> None:
    """A MultiHeadAttention node of queries [2, 3, 8]: `values` is their shape, `past` the length of states."""
    mask, bias, past, values = (more.pop(n, None) for n in ("mask", "bias", "past", "values"))
    values = values or keys
    rows = [g.floats(2, 3, 8), g.floats(*keys), g.floats(*values)]
    added = g.floats(16 + values[-1] * (2 if len(values) == 4 else 1)) if more.pop("biased", False) else None
    states = [None, None] if past is None else [g.floats(2, 2, past, 4), g.floats(2, 2, past, 4)]
    wanted = more.pop("outputs", 1 if past is None else 3)
    outputs = [F32, "", "", F32] if wanted == 4 else [F32] * wanted
    g.add(
        "MultiHeadAttention", [*rows, added, mask, bias, *states], given=(0, 1, 2, 4, 5, 6, 7), outputs=outputs,
        num_heads=2, **more,
    )  # fmt: skip


def test_attention_of_projected_rows() -> None:
    g = Nodes(3)
    mask = np.array([[1, 0, 0, 1, 1], [0, 1, 2, -1, 1]], np.int32)
    projected(g, values=(2, 5, 12))
    projected(g, values=(2, 5, 12), biased=True, outputs=3)
    for given in (np.array([2, 0], np.int32), mask, g.rng.integers(0, 2, (2, 3, 5)).astype(np.int32)):
        projected(g, mask=given)
    projected(g, mask=np.array([2, 3, 0, 3, 6, 0, 5, 10], np.int32))
    projected(g, bias=g.floats(1, 2, 3, 5), mask=mask, mask_filter_value=-5.0)
    projected(g, bias=g.floats(2, 1, 3, 5), scale=0.2)
    projected(g, past=2)
    projected(g, past=2, mask=np.array([[1, 1, 1, 0, 1, 0, 1]] * 2, np.int32))
    projected(g, keys=(2, 3, 8), unidirectional=1)
    projected(g, keys=(2, 3, 8), unidirectional=1, past=2)
    projected(g, keys=(2, 2, 5, 4))
    projected(g, keys=(2, 2, 5, 4), biased=True, outputs=3)
    projected(g, biased=True, mask=mask, outputs=4)
    g.check(g.imported(), 2e-5)


def test_packed_heads_are_what_they_are_apart() -> None:
    """onnxruntime takes these on a GPU only."""
    g = Nodes(4)
    query, keys, values = (g.floats(2, 3, 2, 4) for _ in range(3))
    rows = [np.ascontiguousarray(v.reshape(2, 3, 8)) for v in (query, keys, values)]
    packed = [np.stack([query, keys, values], 3), np.stack([keys, values], 3)]
    for inputs in (rows, [packed[0]], [rows[0], packed[1]]):
        g.add("MultiHeadAttention", inputs, given=(0, 1, 2), num_heads=2)
    first, *others = g.imported().values()
    for other in others:
        np.testing.assert_array_equal(first, other)


def test_states_count_where_nobody_keeps_the_new_ones() -> None:
    """onnxruntime forgets them then."""
    g = Nodes(5)
    projected(g, past=2)
    made = g.nodes[0]
    alone = helper.make_node("MultiHeadAttention", made.input, ["y"], domain=made.domain, num_heads=2)
    with_states = g.imported()[g.names[0][0]]
    g.nodes, g.outputs = [alone], [helper.make_tensor_value_info("y", 1, None)]
    np.testing.assert_allclose(g.imported()["y"], with_states, rtol=0, atol=1e-6)


def grouped(
    g: Nodes, batch: int = 2, rows: int = 4, heads: int = 4, shared: int = 2, size: int = 16, **more: Any
) -> None:
    """A GroupQueryAttention node: `total`, `lengths` (of each of the batch, less 1), `past` (a length), `packed`,
    `turned` (elements of a head, half of them), `places`, `bias` and `sink` are no attributes."""
    names = ("total", "lengths", "past", "packed", "turned", "places", "bias", "sink")
    total, lengths, past, packed, turned, places, bias, sink = (more.pop(n, None) for n in names)
    total = total or rows
    query, *others = (g.floats(batch, rows, n * size) for n in (heads, shared, shared))
    inputs: list[Any] = [np.concatenate([query, *others], -1), None, None] if packed else [query, *others]
    inputs += [g.floats(batch, shared, past, size) for _ in range(2)] if past else [None, None]
    inputs += [np.array(lengths or [total - 1] * batch, np.int32), np.array(total, np.int32)]
    inputs += [g.floats(40, turned) for _ in range(2)] if turned else [None, None]
    outputs = [F32] * (4 if "qk_output" in more else 3)
    g.add(
        "GroupQueryAttention", [*inputs, places, bias, sink], given=(0, 1, 2, 3, 4, 5, 9, 10), outputs=outputs,
        num_heads=heads, kv_num_heads=shared, do_rotary=int(bool(turned)), **more,
    )  # fmt: skip


def test_heads_share_keys_and_values() -> None:
    g = Nodes(4)
    grouped(g)
    grouped(g, packed=True)
    grouped(g, heads=2, shared=2, size=8)
    grouped(g, heads=6, shared=1, size=8, rows=5)
    for window in (1, 2, 3):
        grouped(g, local_window_size=window)
    grouped(g, softcap=0.7, bias=g.floats(1, 4, 4, 4))
    grouped(g, bias=g.floats(2, 1, 4, 4), scale=0.3)
    grouped(g, sink=g.floats(4))
    grouped(g, smooth_softmax=1)
    grouped(g, causal=0)
    grouped(g, qk_output=2, softcap=0.7, bias=g.floats(1, 4, 4, 4))
    g.check(g.imported(), 2e-5)


def test_new_rows_go_behind_those_of_earlier_steps() -> None:
    g = Nodes(5)
    grouped(g, rows=1, past=3, total=4)
    grouped(g, rows=1, past=6, total=4, lengths=[3, 1])
    grouped(g, rows=1, past=3, total=4, lengths=[3, 1], packed=True, turned=8)
    grouped(g, rows=4, past=6, total=4)
    grouped(g, batch=1, rows=3, past=9, total=7, lengths=[6])
    grouped(g, batch=1, rows=3, past=9, total=7, lengths=[4])
    grouped(g, batch=1, rows=3, past=4, total=7, turned=8, rotary_interleaved=1)
    grouped(g, rows=1, past=6, total=4, lengths=[3, 2], bias=g.floats(2, 1, 1, 4))
    grouped(g, rows=1, past=9, total=8, local_window_size=3, sink=g.floats(4), softcap=2.0)
    g.check(g.imported(), 2e-5)


def test_heads_are_turned_by_their_places() -> None:
    g = Nodes(6)
    grouped(g, turned=8)
    grouped(g, turned=8, rotary_interleaved=1)
    grouped(g, turned=8, size=32)
    grouped(g, turned=8, places=np.array([[3, 5, 7, 9], [1, 2, 3, 4]]))
    grouped(g, rows=1, turned=8, past=6, total=6, lengths=[3, 5], places=np.array([[7], [2]]))
    grouped(g, batch=1, rows=3, turned=8, past=6, total=5, places=np.array([[7, 2, 9]]))
    places, first = np.array([[1, 2, 5], [0, 11, 3]]), np.array([4])
    rows, lined = g.floats(2, 3, 64), g.floats(2, 4, 3, 16)
    full, half = [g.floats(12, 8), g.floats(12, 8)], [g.floats(12, 4), g.floats(12, 4)]
    partly: dict[str, Any] = {"num_heads": 4, "rotary_embedding_dim": 8}
    for x in (rows, lined):
        g.add("RotaryEmbedding", [x, places, *full], given=(0, 1))
        g.add("RotaryEmbedding", [x, places, *half], given=(0, 1), interleaved=1, **partly)
    g.add("RotaryEmbedding", [rows, first, *full], given=(0, 1), interleaved=1)
    g.add("RotaryEmbedding", [rows, places, *half], given=(0, 1), **partly)
    g.check(g.imported(), 2e-5)


@pytest.mark.parametrize("shown", [1, 2])
def test_scores_are_shown_where_they_count(shown: int) -> None:
    """onnxruntime leaves what it finds in memory in the other places, or 0."""
    g = Nodes(7)
    grouped(g, rows=1, past=6, total=4, lengths=[3, 1], qk_output=shown)
    name = g.names[0][3]
    ours, theirs = g.imported()[name], g.expected()[name]
    assert ours.shape == theirs.shape == (2, 4, 1, 4)
    np.testing.assert_allclose(ours[0], theirs[0], rtol=0, atol=1e-5)
    np.testing.assert_allclose(ours[1, ..., :2], theirs[1, ..., :2], rtol=0, atol=1e-5)
    assert not ours[1, ..., 2:].any()


# -- compiled --------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", ["cpu", pytest.param("x86-64-v3", marks=pytest.mark.long)])
def test_machine_code_gives_onnxruntimes_numbers(target: str) -> None:
    g = Nodes(8)
    whole(g, batch=1, length=13, width=36, heads=3, mask=np.array([9], np.int32), past=4, unidirectional=1)
    grouped(g, batch=1, rows=13, heads=6, shared=3, turned=8, sink=g.floats(6), local_window_size=5)
    grouped(g, rows=1, past=33, total=29, lengths=[28, 17], turned=8)
    g.check(g.compiled(target), 2e-5)


def test_attention_of_real_size_is_one_kernel() -> None:
    g = Nodes(9)
    whole(g, batch=1, length=128, width=768, heads=12, mask=np.array([[1] * 99 + [0] * 29], np.int32))
    executable = lamina.compile(g.model().SerializeToString(), threads=1, cache=False)
    assert executable.text("te").count("attention_scores") and "batch_matmul" not in executable.text("te")
    g.check(executable.run(g.feeds), 1e-4)


# -- what is refused -------------------------------------------------------------------------------


MISFITS: dict[str, Callable[[Nodes], None]] = {
    r"a mask of shape \[2, 1, 4, 4\]": lambda g: whole(g, mask=np.ones((2, 1, 4, 4), np.int32)),
    "rows of .* elements are no 3 heads": lambda g: whole(g, heads=3),
    "of different lengths is not supported": lambda g: projected(g, unidirectional=1),
    "several new rows behind states": lambda g: grouped(g, rows=3, past=9, total=7),
    "4 rows do not fit a total length of 3": lambda g: grouped(g, total=3),
    "do not fit each other": lambda g: projected(g, values=(2, 4, 8)),
}


@pytest.mark.parametrize(("words", "make"), MISFITS.items())
def test_what_does_not_fit_is_named(words: str, make: Callable[[Nodes], None]) -> None:
    g = Nodes()
    make(g)
    with pytest.raises(LaminaError, match=words):
        g.imported()


def test_a_length_that_only_the_run_tells_is_asked_for() -> None:
    g = Nodes()
    grouped(g)
    total = next(w for w in g.weights if w.name == "i0.6")
    g.weights.remove(total)
    g.feeds["i0.6"] = np.array(4, np.int32)
    model = g.model().SerializeToString()
    with pytest.raises(LaminaError, match="the total length is computed at run time") as found:
        load_onnx(model, machine=False)
    assert getattr(found.value, "names") == ("i0.6",)  # noqa: B009 - of NeedsValueError
    assert len(load_onnx(model, values={"i0.6": g.feeds["i0.6"]}).outputs) == 3
