"""RNN, GRU and LSTM: the products with the input for all steps at once, then one op for each direction."""

from __future__ import annotations

from collections.abc import Sequence

from lamina.dialects.relay.nn.recurrent_functions import FUNCTIONS, activation_text
from lamina.frontends.builder import Value
from lamina.frontends.onnx.builder import Builder, Node
from lamina.frontends.onnx.convert_control import part, stacked
from lamina.frontends.onnx.registry import onnx_op
from lamina.frontends.recurrent import recurrent_layer

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
    made = [_direction(n, b, x, k, batch_first, activations[k], way == "reverse" or k == 1) for k in range(directions)]
    y = stacked(b, [m[0] for m in made], axis=1)
    last = [stacked(b, [m[1 + s] for m in made]) for s in range(count)]
    if batch_first:
        y = b.op("transpose", y, axes=[2, 0, 1, 3])
        last = [b.op("transpose", v, axes=[1, 0, 2]) for v in last]
    return [y, *last]


def _direction(
    n: Node, b: Builder, x: Value, k: int, batch_first: bool, activations: str, reverse: bool
) -> list[Value]:
    """One direction: the outputs by step, and the last of each state."""
    _, _, count = _KINDS[n.op_type]
    w, r = part(b, n.input(1), 0, k), part(b, n.input(2), 0, k)
    biases: tuple[Value, Value] | None = None
    if n.has(3):
        of_w, of_r = b.ops("split", part(b, n.input(3), 0, k), indices_or_sections=2, axis=0)
        biases = of_w, of_r
    peephole = n.op_type == "LSTM" and n.has(7)
    rest = [b.reshape(part(b, n.input(7), 0, k), (3, r.shape[1]))] if peephole else []
    states = [_initial(n, b, 5 + s, k, batch_first, (x.shape[1], r.shape[1]), x) for s in range(count)]
    return recurrent_layer(
        b, n.op_type.lower(), x, w, r, biases, states, [*rest, *([n.input(4)] if n.has(4) else [])],
        late=n.op_type == "GRU" and bool(n.attr("linear_before_reset", 0)), activations=activations, reverse=reverse,
        clip=float(n.attr("clip", 0.0)), input_forget=bool(n.attr("input_forget", 0)), peephole=peephole,
        lengths=n.has(4),
    )  # fmt: skip


def _initial(n: Node, b: Builder, i: int, k: int, batch_first: bool, shape: tuple[int, int], x: Value) -> Value:
    if not n.has(i):
        return b.op("full", b.scalar(0, x), shape=list(shape), dtype=x.dtype)
    return part(b, n.input(i), 1 if batch_first else 0, k)
