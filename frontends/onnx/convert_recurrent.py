"""RNN, GRU and LSTM: the products with the input for all steps at once, then one op for each direction."""

from __future__ import annotations

from collections.abc import Sequence

from lamina.dialects.relay.nn.recurrent_functions import FUNCTIONS, activation_text
from lamina.frontends.builder import Value
from lamina.frontends.onnx.builder import Builder, Node
from lamina.frontends.onnx.convert_control import part, stacked
from lamina.frontends.onnx.registry import onnx_op

_NUMBERS: dict[str, tuple[str, tuple[float, ...]]] = {
    "relu": ("relu", ()),
    "tanh": ("tanh", ()),
    "sigmoid": ("sigmoid", ()),
    "softsign": ("softsign", ()),
    "affine": ("affine", (1.0, 0.0)),
    "leakyrelu": ("leaky_relu", (0.01,)),
    "hardsigmoid": ("hard_sigmoid", (0.2, 0.5)),
    "scaledtanh": ("scaled_tanh", (1.0, 1.0)),
}
"""Our name of an activation, and the defaults of alpha and beta."""

_KINDS: dict[str, tuple[int, tuple[str, ...], int]] = {
    "RNN": (1, ("Tanh",), 1),
    "GRU": (3, ("Sigmoid", "Tanh"), 1),
    "LSTM": (4, ("Sigmoid", "Tanh", "Tanh"), 2),
}
"""The number of gates, the activations, the number of states."""


def _activations(n: Node, usual: Sequence[str], directions: int) -> list[str]:
    """The functions of each direction as our ops name them."""
    names = list(n.attr("activations", tuple(usual) * directions))
    alphas, betas = list(n.attr("activation_alpha", ())), list(n.attr("activation_beta", ()))
    if len(names) != len(usual) * directions:
        raise n.fail(f"{len(names)} activations, expects {len(usual) * directions}")
    found: list[str] = []
    for name in names:
        known = _NUMBERS.get(name.lower())
        if known is None:
            raise n.unsupported(f"the activation {name!r} is not supported")
        ours, defaults = known
        assert FUNCTIONS[ours].PARAMETERS == len(defaults)
        given = [queue.pop(0) if queue else d for queue, d in zip((alphas, betas), defaults, strict=False)]
        found.append(activation_text(ours, given))
    return [", ".join(found[k * len(usual) : (k + 1) * len(usual)]) for k in range(directions)]


@onnx_op("RNN", "GRU", "LSTM")
def recurrent(n: Node, b: Builder) -> list[Value]:
    """Y [steps, directions, batch, hidden], then the last of each state; `layout` 1 puts the batch first."""
    gates, usual, count = _KINDS[n.op_type]
    x, w, r = n.input(0), n.input(1), n.input(2)
    batch_first = bool(n.attr("layout", 0))
    if batch_first:
        x = b.op("transpose", x, axes=[1, 0, 2])
    if x.rank != 3 or w.rank != 3 or r.rank != 3 or w.shape[1] != gates * r.shape[2]:
        raise n.fail("the shapes do not fit")
    directions = w.shape[0]
    way = n.attr("direction", "forward")
    if directions != (2 if way == "bidirectional" else 1):
        raise n.fail(f"{directions} directions for {way!r}")
    activations = _activations(n, usual, directions)
    made = [
        _direction(n, b, x, k, batch_first, {"activations": activations[k], "reverse": way == "reverse" or k == 1})
        for k in range(directions)
    ]
    y = stacked(b, [m[0] for m in made], axis=1)
    last = [stacked(b, [m[1 + s] for m in made]) for s in range(count)]
    if batch_first:
        y = b.op("transpose", y, axes=[2, 0, 1, 3])
        last = [b.op("transpose", v, axes=[1, 0, 2]) for v in last]
    return [y, *last]


def _direction(n: Node, b: Builder, x: Value, k: int, batch_first: bool, attrs: dict[str, object]) -> list[Value]:
    """One direction: the outputs by step, and the last of each state."""
    gates, _, count = _KINDS[n.op_type]
    w, r = part(b, n.input(1), 0, k), part(b, n.input(2), 0, k)
    steps, batch, width = x.shape
    hidden = r.shape[1]
    late = n.op_type == "GRU" and bool(n.attr("linear_before_reset", 0))
    inner: list[Value] = []
    projected = b.contraction("nn.dense", b.reshape(x, (steps * batch, width)), w, units=gates * hidden)
    if n.has(3):
        of_w, of_r = b.ops("split", part(b, n.input(3), 0, k), indices_or_sections=2, axis=0)
        if late:
            # The bias of the product that the reset gate scales stays behind that product.
            inner = [_rows(b, of_r, 2 * hidden, 3 * hidden)]
            none = b.op("full", b.scalar(0, of_r), shape=[hidden], dtype=of_r.dtype)
            of_r = b.op("concatenate", _rows(b, of_r, 0, 2 * hidden), none, axis=0)
        projected = b.op("nn.bias_add", projected, b.op("add", of_w, of_r), axis=1)
    elif late:
        inner = [b.op("full", b.scalar(0, x), shape=[hidden], dtype=x.dtype)]
    weights = [b.reshape(r, (gates, hidden, hidden))]
    if n.op_type == "GRU":
        weights = [b.reshape(_rows(b, r, first * hidden, last * hidden), (last - first, hidden, hidden))
                   for first, last in ((0, 2), (2, 3))]  # fmt: skip
        attrs = {**attrs, "linear_before_reset": late}
    if n.op_type == "LSTM":
        attrs = {**attrs, "input_forget": bool(n.attr("input_forget", 0)), "peephole": n.has(7)}
        if n.has(7):
            inner = [b.reshape(part(b, n.input(7), 0, k), (3, hidden))]
    states = [_initial(n, b, 5 + s, k, batch_first, (batch, hidden), x) for s in range(count)]
    lengths = [n.input(4)] if n.has(4) else []
    return b.ops(
        f"nn.{n.op_type.lower()}", b.reshape(projected, (steps, batch, gates * hidden)),
        *weights, *states, *inner, *lengths,
        clip=float(n.attr("clip", 0.0)), lengths=bool(lengths), **attrs,
    )  # fmt: skip


def _rows(b: Builder, v: Value, first: int, last: int) -> Value:
    return b.op("strided_slice", v, begin=[first], end=[last], strides=[1], axes=[0])


def _initial(n: Node, b: Builder, i: int, k: int, batch_first: bool, shape: tuple[int, int], x: Value) -> Value:
    if not n.has(i):
        return b.op("full", b.scalar(0, x), shape=list(shape), dtype=x.dtype)
    return part(b, n.input(i), 1 if batch_first else 0, k)
