"""Runs of a program that keeps state: what its outputs gave goes to its inputs in the next run.

session = lamina.compile("hey_jarvis.tflite").session()
for frame in frames:
    (probability,) = session(frame),
session.reset()
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from lamina.dialects.numpy_dtypes import numpy_dtype
from lamina.errors import InputError
from lamina.runtime.ports import Port, by_name

if TYPE_CHECKING:
    Array = np.ndarray[Any, np.dtype[Any]]


class KeptValue(NamedTuple):
    """A value that a program keeps: the names of its input and output, and its value before the first run.

    An initial value of rank 0 stands for a tensor of that number.
    """

    input: str
    output: str
    initial: Array

    def plain(self) -> list[Any]:
        """The same as plain values, for a file."""
        data = base64.b64encode(np.ascontiguousarray(self.initial).tobytes()).decode()
        return [self.input, self.output, str(self.initial.dtype), list(self.initial.shape), data]

    @staticmethod
    def from_plain(data: Sequence[Any]) -> KeptValue:
        """The other way round."""
        name, output, dtype, shape, text = data
        return KeptValue(name, output, np.frombuffer(base64.b64decode(text), numpy_dtype(dtype)).reshape(shape))


def initial_values(kept: Sequence[KeptValue], inputs: Sequence[Port]) -> dict[str, Array]:
    """The values that are kept before the first run, by the names of their inputs.

    Raises InputError where there is no such input, or a value does not fit it.
    """
    ports = {p.name: p for p in inputs}
    found: dict[str, Array] = {}
    for name, _, initial in kept:
        if name not in ports:
            raise InputError(f"the state {name!r} is no input of the program")
        if initial.shape not in ((), ports[name].shape):
            raise InputError(f"the initial value of {name!r} has the shape {list(initial.shape)}")
        found[name] = np.broadcast_to(initial, ports[name].shape).astype(ports[name].dtype)
    return found


class ProgramSession:
    """Runs of one program, each from the state that the one before has left. Not for several threads at a time.

    `inputs` and `outputs` are those that are no state.
    """

    def __init__(
        self,
        run: Callable[[Mapping[str, Any]], dict[str, Any]],
        inputs: Sequence[Port],
        outputs: Sequence[Port],
        kept: Sequence[KeptValue],
    ) -> None:
        self._first, given = initial_values(kept, inputs), {p.name for p in outputs}
        if unknown := next((v.output for v in kept if v.output not in given), None):
            raise InputError(f"the state {unknown!r} is no output of the program")
        self._run = run
        self._kept = {v.input: v.output for v in kept}
        self.inputs = tuple(p for p in inputs if p.name not in self._kept)
        self.outputs = tuple(p for p in outputs if p.name not in self._kept.values())
        self.state: dict[str, Array] = {}
        """The values that the next run starts from, by the names of their inputs; others may be put here."""
        self.reset()

    def reset(self) -> None:
        """Go back to the state before the first run."""
        self.state = {name: value.copy() for name, value in self._first.items()}

    def run(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """Run on arrays by name and keep the state: the outputs by name. Raises InputError for what does not fit."""
        for name in inputs:
            if name in self._kept:
                raise InputError(f"the input {name!r} is state", hint="put its value into `state` of the session")
        results = self._run({**inputs, **self.state})
        self.state = {name: results[output] for name, output in self._kept.items()}
        return {p.name: results[p.name] for p in self.outputs}

    def __call__(self, *arrays: Any) -> Any:
        """Run on arrays in the order of `inputs`: the output, or a tuple of them where there are several."""
        results = tuple(self.run(by_name(self.inputs, arrays)).values())
        return results[0] if len(results) == 1 else results
