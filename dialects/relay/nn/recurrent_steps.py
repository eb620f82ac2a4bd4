"""Common parts of recurrent layers: operands, types, steps as a te.scan, gradients through single steps.

`recurrent.py` says what the layers compute; a layer states one step, three times: on arrays, on te tensors and on
relay values.
"""

from __future__ import annotations

import abc
from collections.abc import Sequence
from functools import partial
from typing import Any, ClassVar

from lamina.dialects.relay.declare import *
from lamina.dialects.relay.layout import block_of, extents, parse_layout, stored_shape
from lamina.dialects.relay.nn.recurrent_functions import Activation, activations_of

PLAIN = "GNK"
"""The layout of weights as models have them: gate, unit of the result, unit of the state."""


class Recurrent(RelayOp, precision=Precision.NEVER):
    """Fields that the three have in common. An operand list is data, weights, states, then what is optional."""

    GATES: ClassVar[tuple[int, ...]]
    """The gates of each weight."""
    STATES: ClassVar[int]
    FUNCTIONS: ClassVar[int]

    clip = float_prop(0.0)
    reverse = bool_prop(False)
    lengths = bool_prop(False)
    weight_layout = str_prop(PLAIN)

    # -- operands --

    @classmethod
    def optional(cls, attrs: dict[str, Any]) -> list[str]:
        """The names of the operands behind the states, `lengths` apart."""
        return []

    @classmethod
    def parts(cls, operands: Sequence[Any], attrs: dict[str, Any]) -> dict[str, Any]:
        """The operands by name. Raises TypeMismatch where there are more or fewer."""
        names = ["data", *(f"weight{n}" for n in range(len(cls.GATES))), *(f"state{n}" for n in range(cls.STATES))]
        names += [*cls.optional(attrs), *(["lengths"] if attrs["lengths"] else [])]
        if len(operands) != len(names):
            raise TypeMismatch(f"takes {len(names)} operands with these attributes, got {len(operands)}")
        return dict(zip(names, operands, strict=True))

    @classmethod
    def activation_list(cls, attrs: dict[str, Any]) -> tuple[Activation, ...]:
        """The functions, in order."""
        return activations_of(attrs["activations"], cls.FUNCTIONS, attrs["clip"])

    # -- types --

    @classmethod
    def infer_type(cls, *types: TensorInfo, **attrs: Any) -> tuple[TensorInfo, ...]:
        given = cls.parts(types, attrs)
        data, state = given["data"], given["state0"]
        floats = [t for name, t in given.items() if name != "lengths"]
        check_dtype(same_dtype(*floats), FLOATS)
        if len(data.shape) != 3 or len(state.shape) != 2:
            raise TypeMismatch(f"expects data of rank 3 and states of rank 2, got {data} and {state}")
        steps, batch, width = data.shape
        hidden, count = state.shape[1], sum(cls.GATES)
        if width != count * hidden or state.shape[0] != batch:
            raise TypeMismatch(f"data {data} is not [steps, batch, {count} * hidden] for states {state}")
        if steps < 1 or batch < 1 or hidden < 1:
            raise TypeMismatch(f"data {data} has no elements")
        layout = attrs["weight_layout"]
        letters = {"N": hidden, "K": hidden}
        if sorted(a.letter for a in parse_layout(layout) if not a.block) != sorted(PLAIN):
            raise TypeMismatch(f"weight layout {layout!r} must be an order of the axes G, N, K")
        for n, gates in enumerate(cls.GATES):
            expected = stored_shape(layout, {**letters, "G": gates})
            if given[f"weight{n}"].shape != expected:
                raise TypeMismatch(f"weight has shape {given[f'weight{n}'].shape}, expects {expected} in {layout}")
        for n in range(1, cls.STATES):
            if given[f"state{n}"].shape != state.shape:
                raise TypeMismatch(f"states have shapes {state.shape} and {given[f'state{n}'].shape}")
        for name in cls.optional(attrs):
            cls.check_optional(name, given[name], hidden)
        if "lengths" in given:
            check_dtype(given["lengths"].dtype, INTEGERS)
            if given["lengths"].shape != (batch,):
                raise TypeMismatch(f"lengths have shape {given['lengths'].shape}, expects {(batch,)}")
        cls.activation_list(attrs)
        last = TensorInfo((batch, hidden), data.dtype)
        return TensorInfo((steps, batch, hidden), data.dtype), *[last] * cls.STATES

    @classmethod
    def check_optional(cls, name: str, info: TensorInfo, hidden: int) -> None:
        """Raises TypeMismatch where an optional operand does not fit."""

    # -- the oracle: one step on arrays --

    @classmethod
    @abc.abstractmethod
    def np_step(cls, x: Array, states: list[Array], given: dict[str, Any], attrs: dict[str, Any]) -> list[Array]:
        """The new states from a step's input and the old ones; weights [G, N, K]."""

    @classmethod
    def np_ref(cls, *arrays: Array, **attrs: Any) -> tuple[Array, ...]:
        given = cls.parts(arrays, attrs)
        data, dtype = given["data"], given["data"].dtype
        wide = np.float32 if itemsize(dtype.name) == 2 else dtype
        steps, _, width = data.shape
        hidden = given["state0"].shape[1]
        del width
        for n in range(len(cls.GATES)):
            given[f"weight{n}"] = _plain_array(given[f"weight{n}"], attrs["weight_layout"], hidden).astype(wide)
        states = [given[f"state{n}"] for n in range(cls.STATES)]
        made = np.zeros((steps, *states[0].shape), dtype)
        for t in reversed(range(steps)) if attrs["reverse"] else range(steps):
            new = [s.astype(dtype) for s in cls.np_step(data[t], states, given, attrs)]
            if attrs["lengths"]:
                inside = (t < given["lengths"])[:, None]
                made[t] = np.where(inside, new[0], 0)
                states = [np.where(inside, a, b) for a, b in zip(new, states, strict=True)]
            else:
                made[t], states = new[0], new
        return made, *states

    # -- the meaning: one step as computes --

    @classmethod
    @abc.abstractmethod
    def te_step(cls, step: TeStep) -> Tensor | list[Tensor]:
        """The new states: the results of one compute."""

    @classmethod
    def te_compute(cls, *tensors: Tensor, **attrs: Any) -> list[Tensor]:
        given = cls.parts(tensors, attrs)
        data = given["data"]
        steps, batch, _ = data.shape
        hidden = given["state0"].shape[1]
        back = attrs["reverse"]
        inits = [_first(given[f"state{n}"]) for n in range(cls.STATES)]

        def update(t: Index, *states: Tensor) -> Any:
            at: Any = steps - t if back else t - 1
            return cls.te_step(TeStep(cls, given, attrs, t, at, states))

        found = te.scan(steps + 1, inits, update, "steps")

        def output(t: Index, b: Index, j: Index) -> Any:
            y = found[0][steps - t if back else t + 1, b, j]
            if not attrs["lengths"]:
                return y
            inside = te.cast(t, "int64") < te.cast(given["lengths"][b], "int64")
            return te.select(inside, y, te.const(0, data.dtype))

        y = te.compute((steps, batch, hidden), output, "output")
        return [y, *(_last(state) for state in found)]

    # -- the gradient: through the steps, one after the other --

    @classmethod
    @abc.abstractmethod
    def relay_step(cls, x: Any, states: list[Any], given: dict[str, Any], attrs: dict[str, Any]) -> list[Any]:
        """The new states as relay values; weights [G * N, K]."""

    @classmethod
    def unrolled(cls, *values: Any, **attrs: Any) -> list[Any]:
        """The results from ops on single steps."""
        given = cls.parts(values, attrs)
        data, hidden = given["data"], shape_of(given["state0"])[1]
        steps, batch, width = shape_of(data)
        for n, gates in enumerate(cls.GATES):
            weight, layout = given[f"weight{n}"], attrs["weight_layout"]
            if layout != PLAIN:
                weight = r.layout_transform(weight, src_layout=layout, dst_layout=PLAIN, channels=0)
                weight = r.strided_slice(weight, begin=(0,), end=(hidden,), axes=(1,))
            given[f"weight{n}"] = to_shape(weight, (gates * hidden, hidden))
        states = [given[f"state{n}"] for n in range(cls.STATES)]
        made: dict[int, Any] = {}
        for t in reversed(range(steps)) if attrs["reverse"] else range(steps):
            x = to_shape(r.strided_slice(data, begin=(t,), end=(t + 1,), axes=(0,)), (batch, width))
            new = cls.relay_step(x, states, given, attrs)
            made[t] = new[0]
            if attrs["lengths"]:
                lengths = given["lengths"]
                here = constant(np.full((batch,), t).astype(dtype_of(lengths)))
                inside = to_shape(r.less(here, lengths), (batch, 1))
                made[t] = r.where(inside, new[0], zeros_of(new[0].type))
                new = [r.where(inside, a, b) for a, b in zip(new, states, strict=True)]
            states = new
        return [r.stack(*(made[t] for t in range(steps)), axis=0), *states]

    @classmethod
    def relay_grad(cls, grads: Values, operands: Values, results: Values, **attrs: Any) -> Gradients:
        return through(partial(cls.unrolled, **attrs), grads, operands)


def _first(state: Tensor) -> Tensor:
    """A state as the first entry of the scan's."""

    def element(_: Index, b: Index, j: Index) -> Any:
        return state[b, j]

    return te.compute((1, *state.shape), element, "first")


def _last(states: Tensor) -> Tensor:
    """The last entry."""

    def element(b: Index, j: Index) -> Any:
        return states[states.shape[0] - 1, b, j]

    return te.compute(states.shape[1:], element, "last")


class TeStep:
    """One step as it is built."""

    def __init__(
        self,
        op: type[Recurrent],
        given: dict[str, Any],
        attrs: dict[str, Any],
        t: Index,
        at: Any,
        states: Sequence[Any],
    ) -> None:
        self.given, self.attrs = given, attrs
        self.data, self.at, self.t = given["data"], at, t
        self.states = states
        self.batch, self.hidden = given["state0"].shape
        self.functions = op.activation_list(attrs)
        layout = attrs["weight_layout"]
        self._axes = parse_layout(layout)
        self._block = block_of(layout, "N")

    def weight(self, which: int, gate: Any, unit: Any, k: Any) -> Any:
        """One weight, wherever the layout has it."""
        at = {"G": gate, "K": k, "N": unit // self._block if self._block > 1 else unit, "n": unit % self._block}
        return self.given[f"weight{which}"][tuple(at[a.letter] for a in self._axes)]

    def product(self, which: int, gates: int, name: str, vector: Any = None) -> Tensor:
        """[B, G, H]: weights times a vector [B, H], by default the state before."""
        k = te.reduce_axis(self.hidden, "k")
        wide = "float32" if itemsize(self.data.dtype) == 2 else self.data.dtype

        def element(b: Index, g: Index, j: Index) -> Any:
            h = self.before(0, b, k) if vector is None else vector[b, k]
            return te.sum(te.cast(h, wide) * te.cast(self.weight(which, g, j, k), wide), [k])

        return te.compute((self.batch, gates, self.hidden), element, name)

    def before(self, state: int, b: Any, j: Any) -> Any:
        """A state before the step."""
        return self.states[state][self.t - 1, b, j]

    def gate(self, product: Tensor, which: int, b: Any, j: Any, of: int | None = None) -> Any:
        """The sum of input and previous state for a gate; `of`: the number of the gate in the product."""
        found = product[b, which if of is None else of, j]
        return self.data[self.at, b, j + which * self.hidden] + te.cast(found, self.data.dtype)

    def computed(self, element: Any) -> list[Tensor]:
        """The new states, from one element of each; those of sequences at their end stay."""
        lengths = self.given.get("lengths")

        def new(b: Index, j: Index) -> Any:
            found = element(b, j)
            if lengths is None:
                return tuple(found)
            inside = te.cast(self.at, "int64") < te.cast(lengths[b], "int64")
            return tuple(te.select(inside, v, self.before(n, b, j)) for n, v in enumerate(found))

        return te.compute_results((self.batch, self.hidden), new, "state")


def _plain_array(weight: Array, layout: str, hidden: int) -> Array:
    """Weights as [G, N, K]."""
    letters = [a.letter for a in parse_layout(layout)]
    whole = extents(layout, weight.shape)
    order = [letters.index(a) for a in ("G", "N", "n", "K") if a in letters]
    return np.transpose(weight, order).reshape(whole["G"], whole["N"], whole["K"])[:, :hidden]
