"""Programs that run on arrays: what executables, saved programs and nets of libraries have in common.

net.run({"x": x}, out={"y": y})     net.run(x=x)     net(x)     net.session()     with net: ...
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, Self

from lamina.runtime.given_arrays import named_arrays
from lamina.runtime.ports import SIZE, Port, by_name
from lamina.runtime.session import KeptValue, ProgramSession, further_states, initial_values

if TYPE_CHECKING:
    import numpy as np

    from lamina.runtime.grown_rows import InPlace

    Array = np.ndarray[Any, np.dtype[Any]]


class HasPorts(Protocol):
    """The description of a program."""

    @property
    def inputs(self) -> tuple[Port, ...]: ...

    @property
    def outputs(self) -> tuple[Port, ...]: ...


class Runnable(ABC):
    """A program ready to run. As a context manager it ends its threads; a call after that starts others."""

    @abstractmethod
    def described(self) -> HasPorts:
        """The description that has its inputs and outputs."""

    @property
    def inputs(self) -> tuple[Port, ...]:
        """The arrays that it takes. The sizes that their shapes tell are not among them."""
        return tuple(p for p in self.described().inputs if p.dtype != SIZE)

    @property
    def outputs(self) -> tuple[Port, ...]:
        return self.described().outputs

    def run(
        self, inputs: Mapping[str, Any] | None = None, /, out: Mapping[str, Array] | None = None, **named: Any
    ) -> dict[str, Any]:
        """Run on arrays by name, keywords or not: the outputs by name, in the arrays of `out` where it has them.

        A wrong name, dtype, rank or shape is an InputError before anything runs. What is no tensor in a program for the
        virtual machine is a tuple or a `lamina.vm.vm.AdtValue`, here and there.
        """
        return self.run_on(named_arrays(inputs, named) if named or inputs is None else inputs, out)

    @abstractmethod
    def run_on(self, inputs: Mapping[str, Any], out: Mapping[str, Array] | None) -> dict[str, Any]:
        """Run on all inputs, as `run` does."""

    @abstractmethod
    def kept(self) -> Sequence[KeptValue]:
        """The values that the program keeps from one run to the next."""

    @abstractmethod
    def close(self) -> None:
        """End the threads that no run uses."""

    def __call__(self, *arrays: Any) -> Any:
        """Run on arrays in the order of `inputs`: the output, or a tuple of them where there are several."""
        results = tuple(self.run(by_name(self.inputs, arrays)).values())
        return results[0] if len(results) == 1 else results

    def in_place(self) -> InPlace | None:
        """The program as one that lets state grow where it lies, if it can."""
        return None

    def session(
        self, states: Mapping[str, str] | None = None, capacity: int | None = None, grow: bool | None = None
    ) -> ProgramSession:
        """Runs that keep state from one to the next: what @main names in `lamina.state`, as variables of TFLite do.

        `states` are further outputs that go to inputs, by the names of these, from zeros on. State that the program was
        compiled for (`lamina.compile(..., states=...)`) grows where it lies: there is room for `capacity` rows, and
        with `grow`, by default where no capacity is given, for as many as there will be. A program without state has a
        session too. Raises UsageError for states and a capacity that do not fit.
        """
        described = self.described()
        declared = self.kept()
        further = further_states(states, self.inputs, self.outputs, declared) if states is not None else []
        kept = [*declared, *further]
        ports = described.inputs, described.outputs
        return ProgramSession(self.run, ports, kept, self.in_place(), capacity, grow)

    @property
    def initial_state(self) -> dict[str, Array]:
        """The values of the inputs that hold state before the first run, by name."""
        return initial_values(self.kept(), self.inputs)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
