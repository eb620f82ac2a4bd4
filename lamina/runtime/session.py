"""Runs of a program that keeps state: what its outputs gave goes to its inputs in the next run.

session = lamina.compile("hey_jarvis.tflite").session()
for frame in frames:
    (probability,) = session(frame),
session.reset()

State may grow: `lamina.compile("gpt.onnx", shapes=..., states={"past_k": "present_k"})`. Its rows stay where they are
(`grown_rows.py`), and a run writes those that are new.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, cast

import numpy as np

from lamina.dialects.numpy_dtypes import numpy_dtype
from lamina.dialects.state_growth import Growth
from lamina.errors import InputError, UsageError, did_you_mean
from lamina.ir.array_files import read_arrays, write_arrays
from lamina.runtime.grown_rows import GrownRows, InPlace, first_rows
from lamina.runtime.ports import SIZE, Port, by_name, infer_sizes

if TYPE_CHECKING:
    Array = np.ndarray[Any, np.dtype[Any]]


class KeptValue(NamedTuple):
    """A value that a program keeps: the names of its input and output, and its value before the first run.

    An initial value of rank 0 stands for a tensor of that number.
    """

    input: str
    output: str
    initial: Array
    growth: Growth | None = None
    """The way in which it grows where it lies, if it does."""

    def plain(self) -> list[Any]:
        """The same as plain values, for a file."""
        data = base64.b64encode(np.ascontiguousarray(self.initial).tobytes()).decode()
        growth = [[*self.growth]] if self.growth is not None else []
        return [self.input, self.output, str(self.initial.dtype), list(self.initial.shape), data, *growth]

    @staticmethod
    def from_plain(data: Sequence[Any]) -> KeptValue:
        """The other way round."""
        name, output, dtype, shape, text, *growth = data
        initial = np.frombuffer(base64.b64decode(text), numpy_dtype(dtype)).reshape(shape)
        return KeptValue(name, output, initial, Growth(*growth[0]) if growth else None)


def initial_values(kept: Sequence[KeptValue], inputs: Sequence[Port]) -> dict[str, Array]:
    """The values that are kept before the first run, by the names of their inputs.

    Those whose extents the first run tells are not among them. Raises InputError where there is no such input, or a
    value does not fit it.
    """
    ports = {p.name: p for p in inputs}
    found: dict[str, Array] = {}
    for value in kept:
        port = ports.get(value.input)
        if port is None:
            raise InputError(f"the state {value.input!r} is no input of the program")
        if min(port.shape, default=0) >= 0:
            found[value.input] = _first(value, port.dtype, port.shape)
    return found


Types: TypeAlias = "Mapping[str, tuple[str, tuple[int, ...]]]"
"""Element type and extents by name; what is not known is below 0."""


def named_states(states: object) -> dict[Any, Any]:
    """States as they are given, by the names of inputs. Raises UsageError for what is no mapping."""
    if not isinstance(states, Mapping):
        hint = 'give {"past": "present"}'
        raise UsageError(f"states are the names of outputs by those of inputs, not {states!r}", hint=hint)
    return dict(cast("Mapping[Any, Any]", states))


def check_states(states: object, inputs: Types, outputs: Types, declared: Sequence[tuple[str, str]]) -> dict[str, str]:
    """States as they are given: the outputs that go to inputs, by the names of these. `declared` are so already.

    Raises UsageError for what is no mapping of names, for names that there are not, for values of another type, and for
    what is state already.
    """
    taken = [*declared]
    for name, output in named_states(states).items():
        for given, known, what in ((name, inputs, "input"), (output, outputs, "output")):
            if not isinstance(given, str) or given not in known:
                near = did_you_mean(given, list(known)) if isinstance(given, str) else ""
                raise UsageError(f"states: there is no {what} {given!r}", hint=near or f"it has {', '.join(known)}")
        assert isinstance(name, str) and isinstance(output, str)
        if any(name == i or output == o for i, o in taken):
            raise UsageError(f"states: {name!r} or {output!r} is state already")
        (dtype, extents), (other, others) = inputs[name], outputs[output]
        fits = len(extents) == len(others) and all(
            e == f or min(e, f) < 0 for e, f in zip(extents, others, strict=True)
        )
        if dtype != other or not fits:
            made, taken_ = (
                f"{d}[{', '.join('?' if e < 0 else str(e) for e in s)}]" for d, s in (outputs[output], inputs[name])
            )
            raise UsageError(f"states: {output!r} is {made}, {name!r} takes {taken_}")
        taken.append((name, output))
    return dict(taken[len(declared) :])


def further_states(
    states: object, inputs: Sequence[Port], outputs: Sequence[Port], declared: Sequence[KeptValue]
) -> list[KeptValue]:
    """Values that start from zeros: outputs that go to inputs, by the names of these. Raises UsageError for others."""
    types = [{p.name: (p.dtype, p.shape) for p in side} for side in (inputs, outputs)]
    found = check_states(states, types[0], types[1], [(v.input, v.output) for v in declared])
    dtypes = {p.name: numpy_dtype(p.dtype) for p in inputs}
    return [KeptValue(name, output, np.zeros((), dtypes[name])) for name, output in found.items()]


def _first(value: KeptValue, dtype: str, shape: tuple[int, ...]) -> Array:
    """The initial value for a shape."""
    if value.initial.shape not in ((), shape):
        raise InputError(f"the initial value of {value.input!r} has the shape {list(value.initial.shape)}")
    return np.broadcast_to(value.initial, shape).astype(numpy_dtype(dtype))


class ProgramSession:
    """Runs of one program, each from the state that the one before has left. Not for several threads at a time.

    `inputs` and `outputs` are those that are no state.
    """

    def __init__(
        self,
        run: Callable[[Mapping[str, Any]], dict[str, Any]],
        ports: tuple[Sequence[Port], Sequence[Port]],
        kept: Sequence[KeptValue],
        in_place: InPlace | None = None,
        capacity: int | None = None,
        grow: bool | None = None,
    ) -> None:
        """`ports` are all inputs, sizes among them, and all outputs. With `in_place` state grows where it lies."""
        self._ports, given = [p for p in ports[0] if p.dtype != SIZE], {p.name for p in ports[1]}
        self._sizes = [p for p in ports[0] if p.dtype == SIZE]
        self._first = initial_values(kept, self._ports)
        if unknown := next((v.output for v in kept if v.output not in given), None):
            raise InputError(f"the state {unknown!r} is no output of the program")
        self._run, self._values = run, {v.input: v for v in kept}
        growing = {v.input: (v.output, v.growth) for v in kept if v.growth is not None} if in_place is not None else {}
        self._grown = GrownRows(in_place, growing, capacity, grow) if in_place is not None and growing else None
        if (capacity is not None or grow is not None) and self._grown is None:
            what = "this program has no state that grows where it lies"
            raise UsageError(what, hint="leave out `capacity` and `grow`, or name the states when it is compiled")
        outputs = {v.output for v in kept}
        self.inputs = tuple(p for p in self._ports if p.name not in self._values)
        self.outputs = tuple(p for p in ports[1] if p.name not in outputs)
        self.state: dict[str, Array] = {}
        """The values that the next run starts from, by the names of their inputs; others may be put here.

        Those whose extents the first run tells come with it. Of state that grows they are the rows where they lie,
        which runs after `rewind` write anew: who wants to keep them copies them."""
        self.reset()

    def reset(self) -> None:
        """Go back to the state before the first run."""
        self.state = {name: value.copy() for name, value in self._first.items()}

    def rewind(self, rows: int) -> None:
        """Go back to the first rows of all state, of which each grows.

        Raises UsageError where there are not so many, and where some state does not grow where it lies.
        """
        if self._grown is None or any(v.growth is None for v in self._values.values()):
            raise UsageError(
                "not all state of this program grows where it lies", hint="put earlier values into `state`"
            )
        if type(rows) is not int or rows < 0:
            raise UsageError(f"rows are a number from 0 on, not {rows!r}")
        found: dict[str, Array] = {}
        for name, value in self._values.items():
            axis, array = value.growth.axis if value.growth is not None else 0, self.state.get(name)
            count = np.shape(array)[axis] if array is not None and np.ndim(array) > axis else 0
            if rows > count:
                raise UsageError(f"there are {count} rows of state, not {rows}", where=f"state {name!r}")
            if array is not None:
                found[name] = first_rows(np.asarray(array), axis, rows)
        self.state.update(found)

    def run(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """Run on arrays by name and keep the state: the outputs by name. Raises InputError for what does not fit."""
        for name in inputs:
            if name in self._values:
                raise InputError(f"the input {name!r} is state", hint="put its value into `state` of the session")
        given = {**inputs, **self._started(inputs), **self.state}
        results = self._grown.run(given) if self._grown is not None else self._run(given)
        self.state = {name: results[value.output] for name, value in self._values.items()}
        return {p.name: results[p.name] for p in self.outputs}

    def __call__(self, *arrays: Any) -> Any:
        """Run on arrays in the order of `inputs`: the output, or a tuple of them where there are several."""
        results = tuple(self.run(by_name(self.inputs, arrays)).values())
        return results[0] if len(results) == 1 else results

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the state into an npz file, in place of what stood there. Raises InputError where it cannot."""
        write_arrays(os.fspath(path), self.state)

    def load(self, path: str | os.PathLike[str]) -> None:
        """Go on from the state of a file that `save` wrote. Raises InputError for one of another program."""
        state = read_arrays(os.fspath(path))
        ports = {p.name: p for p in self._ports}
        if not isinstance(state, dict) or not set(state) <= set(self._values) or not set(self._first) <= set(state):
            held = ", ".join(state) if isinstance(state, dict) else "one array"
            raise InputError(f"it holds {held}; expected {', '.join(self._values)}", where=str(path))
        for name, array in state.items():
            port = ports[name]
            found = array.view(numpy_dtype(port.dtype)) if array.dtype.kind == "V" else array
            extents = zip(port.shape, found.shape, strict=False)
            fits = found.ndim == len(port.shape) and all(e < 0 or e == f for e, f in extents)
            if found.dtype != numpy_dtype(port.dtype) or not fits:
                what = f"{name!r} is {found.dtype}{list(found.shape)}, expected {port.describe()}"
                raise InputError(what, where=str(path))
            state[name] = found
        self.state = state

    def _started(self, inputs: Mapping[str, Any]) -> dict[str, Array]:
        """The first values whose extents the inputs of a run tell. Raises InputError for what they do not tell."""
        missing = [v for v in self._values.values() if v.input not in self.state]
        if not missing:
            return {}
        given = {**self.state, **inputs}
        told = [p for p in self._ports if p.name in given]
        ports = {p.name: p for p in self._ports}
        rows = {p.name: 0 for v in missing for p in self._untold(ports[v.input], told) if p.name not in given}
        sizes = list(infer_sizes([*self._sizes, *told], {**given, **rows}).values())
        return {v.input: _first(v, ports[v.input].dtype, ports[v.input].shape_for(sizes)) for v in missing}

    def _untold(self, port: Port, told: Sequence[Port]) -> list[Port]:
        """The sizes of a state that no other array tells: it has no rows yet. Raises InputError where it must have."""
        where, hint = f"state {port.name!r}", "put its first value into `state`"
        if port.extents is None:
            raise InputError("its extents are not known before it runs", where=where, hint=hint)
        known = {a for p in told if p.extents is not None for e in p.extents.results for a in e.dims()}
        dims = {a for e in port.extents.results for a in e.dims() if isinstance(a, int)} - known
        found = [self._sizes[n] for n in sorted(dims)]
        for size in found:
            if size.range is None or not size.range.holds(0):
                raise InputError(f"no array tells {size.name!r}, which is not 0", where=where, hint=hint)
        return found
