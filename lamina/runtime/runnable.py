"""Programs that run on arrays: what executables, saved programs and nets of libraries have in common.

net.run({"x": x}, out={"y": y})     net.run(x=x)     net(x)     net.session()     with net: ...
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

from lamina.runtime.ports import Port, by_name
from lamina.runtime.session import KeptValue, ProgramSession, initial_values

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, np.dtype[Any]]


class Runnable(ABC):
    """A program ready to run. As a context manager it ends its threads; a call after that starts others."""

    @property
    @abstractmethod
    def inputs(self) -> tuple[Port, ...]: ...

    @property
    @abstractmethod
    def outputs(self) -> tuple[Port, ...]: ...

    @abstractmethod
    def run(
        self, inputs: Mapping[str, Any] | None = None, /, out: Mapping[str, Array] | None = None, **named: Any
    ) -> dict[str, Any]:
        """Run on arrays by name, those of `inputs` and those that are given as keywords: the outputs by name, in the
        arrays of `out` where it has them. Raises InputError for arrays that do not fit, before anything runs."""

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

    def session(self) -> ProgramSession:
        """Runs that keep state from one to the next: what @main names in `lamina.state`, as variables of TFLite.

        A program without state has a session too.
        """
        return ProgramSession(self.run, self.inputs, self.outputs, self.kept())

    @property
    def initial_state(self) -> dict[str, Array]:
        """The values of the inputs that hold state before the first run, by name."""
        return initial_values(self.kept(), self.inputs)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
