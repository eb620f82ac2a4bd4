"""Recurrent layers from their projected inputs: nn.rnn, nn.gru, nn.lstm. One op is one layer in one direction.

`data` [T, B, G*H] holds what the input gives to each of the G gates at each of T steps, biases included: one matrix
product for all steps, which is not the op's. A step adds what the state before gives by `weight` [G, H, H] (gate, unit
of the result, unit of the state) and makes the new state:

    rnn    h' = f(x + R h)
    gru    z = f(xz + Rz h)   r = f(xr + Rr h)   n = g(xn + Rn (r h))   h' = (1 - z) n + z h
           with linear_before_reset, the bias b of Rn given,   n = g(xn + r (Rn h + b))
    lstm   i = f(xi + Ri h + pi c)   o = f(xo + Ro h + po c')   q = f(xf + Rf h + pf c)   m = g(xc + Rc h)
           c' = q c + i m            h' = o k(c')               with input_forget, q = 1 - i

Gates stand in ONNX's order: z r n, and i o f c. The results are h at every step [T, B, H] and the last of each state
[B, H]. `reverse` walks the steps from the last one. Where `lengths` [B] are given (the last operand), what lies beyond
a sequence's length is 0 in the first result, and leaves the states as they are.

The steps are a te.scan: one kernel, whatever T is. `weight_layout` "NKG32n" says that weights are packed in the order
in which such a kernel reads them: 32 units of all gates beside each other.
"""

from __future__ import annotations

from typing import Any, ClassVar

from lamina.dialects.relay.contraction import matmul
from lamina.dialects.relay.declare import *
from lamina.dialects.relay.nn.recurrent_steps import Recurrent, TeStep


def _dense(h: Array, weight: Array, dtype: Any) -> Array:
    """[G, B, N] of [B, K] and [G, N, K]."""
    return matmul(h.astype(weight.dtype), weight.transpose(0, 2, 1)).astype(dtype)


def _gates(x: Array, count: int) -> list[Array]:
    return np.split(x, count, axis=1)


def _relay_gates(x: Any, count: int) -> list[Any]:
    return [*r.split(x, indices_or_sections=count, axis=1)] if count > 1 else [x]


def _row(p: Any, n: int) -> Any:
    """Row n of [rows, H], as [1, H]."""
    return r.strided_slice(p, begin=(n,), end=(n + 1,), axes=(0,))


@irdl_op_definition
class RnnOp(Recurrent):
    """data [T, B, H], weight [1, H, H], state [B, H] -> [T, B, H] and the last state: h' = f(x + R h)."""

    name = "relay.nn.rnn"
    GATES: ClassVar[tuple[int, ...]] = (1,)
    STATES: ClassVar[int] = 1
    FUNCTIONS: ClassVar[int] = 1

    data = operand_def(TensorType)
    weight = operand_def(TensorType)
    hidden = operand_def(TensorType)
    rest = var_operand_def(TensorType)
    activations = str_prop("tanh")
    output = result_def(TensorType)
    last = result_def(TensorType)

    @classmethod
    def np_step(cls, x: Array, states: list[Array], given: dict[str, Any], attrs: dict[str, Any]) -> list[Array]:
        (f,) = cls.activation_list(attrs)
        return [f.array(x + _dense(states[0], given["weight0"], x.dtype)[0])]

    @classmethod
    def te_step(cls, step: TeStep) -> list[Tensor]:
        (f,) = step.functions
        product = step.product(0, 1, "gates")

        def state(b: Any, j: Any) -> list[Any]:
            return [f.element(step.gate(product, 0, b, j))]

        return step.computed(state)

    @classmethod
    def relay_step(cls, x: Any, states: list[Any], given: dict[str, Any], attrs: dict[str, Any]) -> list[Any]:
        (f,) = cls.activation_list(attrs)
        return [f.value(r.add(x, r.nn.dense(states[0], given["weight0"])))]

    @staticmethod
    def samples() -> list[Sample]:
        return [
            sample((3, 2, 5), (1, 5, 5), (2, 5)),
            sample((1, 1, 1), (1, 1, 1), (1, 1)),
            sample((3, 1, 20), (1, 20, 20), (1, 20), attrs={"reverse": True, "activations": "relu", "clip": 1.5}),
            sample((4, 2, 3), (1, 3, 3), (2, 3), ((2,), "int32"), attrs={"lengths": True}, ranges=_lengths(3, 4)),
            sample((2, 2, 3), (1, 3, 3), (2, 3), attrs={"activations": "affine(0.5, 0.25)"}),
            sample((2, 2, 3), (1, 3, 3), (2, 3), attrs={"activations": "leaky_relu(0.25)"}),
            sample((2, 2, 3), (1, 3, 3), (2, 3), attrs={"activations": "scaled_tanh(0.5, 2.0)"}),
            sample((2, 2, 3), (1, 3, 3), (2, 3), attrs={"activations": "hard_sigmoid(0.2, 0.5)"}),
            sample((2, 2, 3), (1, 3, 3), (2, 3), attrs={"activations": "softsign"}),
            sample(((2, 2, 3), "float64"), ((1, 3, 3), "float64"), ((2, 3), "float64")),
            sample((2, 2, 5), (2, 5, 1, 4), (2, 5), attrs={"weight_layout": "NKG4n"}),
            sample((3, 2, 5), (1, 5, 5), (2, 4), error="is not [steps, batch, 1 * hidden]"),
            sample((3, 2, 5), (1, 5, 4), (2, 5), error="weight has shape (1, 5, 4), expects (1, 5, 5) in GNK"),
            sample((3, 2, 5), (1, 5, 5), (2, 5), attrs={"activations": "sin"}, error="activation 'sin' is none of"),
            sample((3, 2, 5), (1, 5, 5), (2, 5), attrs={"lengths": True}, error="takes 4 operands"),
        ]


@irdl_op_definition
class GruOp(Recurrent):
    """data [T, B, 3H], weights [2, H, H] of z and r and [1, H, H] of n, state [B, H] -> [T, B, H], the last state.

    With linear_before_reset the bias [H] of n's product follows the state.
    """

    name = "relay.nn.gru"
    GATES: ClassVar[tuple[int, ...]] = (2, 1)
    STATES: ClassVar[int] = 1
    FUNCTIONS: ClassVar[int] = 2

    data = operand_def(TensorType)
    weight = operand_def(TensorType)
    new_weight = operand_def(TensorType)
    hidden = operand_def(TensorType)
    rest = var_operand_def(TensorType)
    activations = str_prop("sigmoid, tanh")
    linear_before_reset = bool_prop(False)
    output = result_def(TensorType)
    last = result_def(TensorType)

    @classmethod
    def optional(cls, attrs: dict[str, Any]) -> list[str]:
        return ["bias"] if attrs["linear_before_reset"] else []

    @classmethod
    def check_optional(cls, name: str, info: TensorInfo, hidden: int) -> None:
        if info.shape != (hidden,):
            raise TypeMismatch(f"bias has shape {info.shape}, expects {(hidden,)}")

    @classmethod
    def np_step(cls, x: Array, states: list[Array], given: dict[str, Any], attrs: dict[str, Any]) -> list[Array]:
        f, g = cls.activation_list(attrs)
        (h,) = states
        xz, xr, xn = _gates(x, 3)
        hz, hr = _dense(h, given["weight0"], x.dtype)
        z, reset = f.array(xz + hz), f.array(xr + hr)
        if attrs["linear_before_reset"]:
            inner = reset * (_dense(h, given["weight1"], x.dtype)[0] + given["bias"])
        else:
            inner = _dense(reset * h, given["weight1"], x.dtype)[0]
        return [(1 - z) * g.array(xn + inner) + z * h]

    @classmethod
    def te_step(cls, step: TeStep) -> list[Tensor]:
        f, g = step.functions
        late = step.attrs["linear_before_reset"]
        product = step.product(0, 2, "gates")
        if late:
            inner = step.product(1, 1, "new_gates")
            bias = step.given["bias"]

            def late_state(b: Any, j: Any) -> list[Any]:
                z, reset = (f.element(step.gate(product, n, b, j)) for n in (0, 1))
                rest = reset * (te.cast(inner[b, 0, j], step.data.dtype) + bias[j])
                n = g.element(step.data[step.at, b, j + 2 * step.hidden] + rest)
                return [(1.0 - z) * n + z * step.before(0, b, j)]

            return step.computed(late_state)

        def reset_state(b: Any, j: Any) -> Any:
            z, reset = (f.element(step.gate(product, n, b, j)) for n in (0, 1))
            return z, reset * step.before(0, b, j)

        update, held = te.compute_results((step.batch, step.hidden), reset_state, "reset")
        inner = step.product(1, 1, "new_gates", held)

        def state(b: Any, j: Any) -> list[Any]:
            z = update[b, j]
            n = g.element(step.gate(inner, 2, b, j, of=0))
            return [(1.0 - z) * n + z * step.before(0, b, j)]

        return step.computed(state)

    @classmethod
    def relay_step(cls, x: Any, states: list[Any], given: dict[str, Any], attrs: dict[str, Any]) -> list[Any]:
        f, g = cls.activation_list(attrs)
        (h,) = states
        xz, xr, xn = _relay_gates(x, 3)
        hz, hr = _relay_gates(r.nn.dense(h, given["weight0"]), 2)
        z, reset = f.value(r.add(xz, hz)), f.value(r.add(xr, hr))
        if attrs["linear_before_reset"]:
            inner = r.multiply(reset, r.nn.bias_add(r.nn.dense(h, given["weight1"]), given["bias"], axis=1))
        else:
            inner = r.nn.dense(r.multiply(reset, h), given["weight1"])
        new = g.value(r.add(xn, inner))
        return [r.add(r.multiply(r.subtract(number(1.0, z), z), new), r.multiply(z, h))]

    @staticmethod
    def samples() -> list[Sample]:
        plain = (3, 2, 15), (2, 5, 5), (1, 5, 5), (2, 5)
        late = {"linear_before_reset": True}
        return [
            sample(*plain),
            sample((1, 1, 3), (2, 1, 1), (1, 1, 1), (1, 1)),
            sample(*plain, (5,), attrs=late),
            sample((3, 1, 60), (2, 20, 20), (1, 20, 20), (1, 20), attrs={"reverse": True}),
            sample(*plain, ((2,), "int32"), attrs={"lengths": True}, ranges=_lengths(4, 3)),
            sample(*plain, (5,), ((2,), "int64"), attrs={**late, "lengths": True}, ranges=_lengths(5, 3)),
            sample(*plain, attrs={"activations": "hard_sigmoid(0.2, 0.5), softsign", "clip": 1.0}),
            sample(((2, 2, 9), "float64"), ((2, 3, 3), "float64"), ((1, 3, 3), "float64"), ((2, 3), "float64")),
            sample((2, 3, 15), (2, 5, 2, 4), (2, 5, 1, 4), (3, 5), attrs={"weight_layout": "NKG4n"}),
            sample(*plain, attrs=late, error="takes 5 operands"),
            sample(*plain, (4,), attrs=late, error="bias has shape (4,), expects (5,)"),
            sample(*plain, attrs={"activations": "tanh"}, error="1 activations, expects 2"),
        ]


@irdl_op_definition
class LstmOp(Recurrent):
    """data [T, B, 4H], weight [4, H, H], state and cell [B, H] -> [T, B, H], the last state and the last cell.

    With `peephole`, weights [3, H] of what the gates i, o, f see of the cell follow the cell.
    """

    name = "relay.nn.lstm"
    GATES: ClassVar[tuple[int, ...]] = (4,)
    STATES: ClassVar[int] = 2
    FUNCTIONS: ClassVar[int] = 3

    data = operand_def(TensorType)
    weight = operand_def(TensorType)
    hidden = operand_def(TensorType)
    cell = operand_def(TensorType)
    rest = var_operand_def(TensorType)
    activations = str_prop("sigmoid, tanh, tanh")
    input_forget = bool_prop(False)
    peephole = bool_prop(False)
    output = result_def(TensorType)
    last = result_def(TensorType)
    last_cell = result_def(TensorType)

    @classmethod
    def optional(cls, attrs: dict[str, Any]) -> list[str]:
        return ["peephole"] if attrs["peephole"] else []

    @classmethod
    def check_optional(cls, name: str, info: TensorInfo, hidden: int) -> None:
        if info.shape != (3, hidden):
            raise TypeMismatch(f"peephole weights have shape {info.shape}, expects {(3, hidden)}")

    @classmethod
    def np_step(cls, x: Array, states: list[Array], given: dict[str, Any], attrs: dict[str, Any]) -> list[Array]:
        f, g, k = cls.activation_list(attrs)
        h, c = states
        i, o, q, m = (a + b for a, b in zip(_gates(x, 4), _dense(h, given["weight0"], x.dtype), strict=True))
        peephole = given.get("peephole")

        def seen(gate: Array, row: int, cell: Array) -> Array:
            # Without, an infinite cell is none of the gates' business.
            return gate if peephole is None else gate + peephole[row] * cell

        i = f.array(seen(i, 0, c))
        q = 1 - i if attrs["input_forget"] else f.array(seen(q, 2, c))
        c = q * c + i * g.array(m)
        return [f.array(seen(o, 1, c)) * k.array(c), c]

    @classmethod
    def te_step(cls, step: TeStep) -> list[Tensor]:
        f, g, k = step.functions
        peephole = step.given.get("peephole")
        product = step.product(0, 4, "gates")

        def seen(gate: Any, row: int, j: Any, cell: Any) -> Any:
            return gate if peephole is None else gate + peephole[row, j] * cell

        def state(b: Any, j: Any) -> list[Any]:
            gates = [step.gate(product, n, b, j) for n in range(4)]
            c = step.before(1, b, j)
            i = f.element(seen(gates[0], 0, j, c))
            q = 1.0 - i if step.attrs["input_forget"] else f.element(seen(gates[2], 2, j, c))
            c = q * c + i * g.element(gates[3])
            return [f.element(seen(gates[1], 1, j, c)) * k.element(c), c]

        return step.computed(state)

    @classmethod
    def relay_step(cls, x: Any, states: list[Any], given: dict[str, Any], attrs: dict[str, Any]) -> list[Any]:
        f, g, k = cls.activation_list(attrs)
        h, c = states
        i, o, q, m = _relay_gates(r.add(x, r.nn.dense(h, given["weight0"])), 4)
        p = given.get("peephole")

        def seen(gate: Any, row: int, cell: Any) -> Any:
            return gate if p is None else r.add(gate, r.multiply(_row(p, row), cell))

        i = f.value(seen(i, 0, c))
        q = r.subtract(number(1.0, i), i) if attrs["input_forget"] else f.value(seen(q, 2, c))
        c = r.add(r.multiply(q, c), r.multiply(i, g.value(m)))
        return [r.multiply(f.value(seen(o, 1, c)), k.value(c)), c]

    @staticmethod
    def samples() -> list[Sample]:
        plain = (3, 2, 20), (4, 5, 5), (2, 5), (2, 5)
        return [
            sample(*plain),
            sample((1, 1, 4), (4, 1, 1), (1, 1), (1, 1)),
            sample(*plain, (3, 5), attrs={"peephole": True}),
            sample((3, 1, 80), (4, 20, 20), (1, 20), (1, 20), attrs={"reverse": True}),
            sample(*plain, ((2,), "int32"), attrs={"lengths": True, "reverse": True}, ranges=_lengths(4, 3)),
            sample(*plain, (3, 5), ((2,), "int64"), attrs={"peephole": True, "lengths": True}, ranges=_lengths(5, 3)),
            sample(*plain, attrs={"activations": "hard_sigmoid(0.2, 0.5), softsign, relu", "clip": 1.0}),
            sample(*plain, attrs={"input_forget": True}),
            sample(((2, 2, 12), "float64"), ((4, 3, 3), "float64"), ((2, 3), "float64"), ((2, 3), "float64")),
            sample((2, 3, 20), (2, 5, 4, 4), (3, 5), (3, 5), attrs={"weight_layout": "NKG4n"}),
            sample((3, 2, 20), (4, 5, 5), (2, 5), (2, 4), error="states have shapes (2, 5) and (2, 4)"),
            sample(*plain, (2, 5), attrs={"peephole": True}, error="peephole weights have shape (2, 5)"),
            sample(*plain, attrs={"weight_layout": "NK"}, error="must be an order of the axes G, N, K"),
            sample(*plain, attrs={"clip": -1.0}, error="clip -1.0 is negative"),
        ]


def _lengths(before: int, most: int) -> tuple[tuple[float, float] | None, ...]:
    """The ranges of samples whose last operand holds lengths."""
    return (*[None] * before, (0, most))
