"""The weights of a program, packed while the passes run.

They are computed by NumPy, which lets other threads go on while it copies; the passes behind relay-to-te do not ask for
their values.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from lamina.dialects.aligned_arrays import aligned
from lamina.dialects.relay.params import ParamAttr

if TYPE_CHECKING:
    import numpy as np
    from xdsl.ir import Attribute

    from lamina.dialects.relay.params import ParamStore

    Array = np.ndarray[Any, np.dtype[Any]]


class WeightPacking:
    """Computes constants in a thread of its own, in the order in which they are given."""

    def __init__(self, store: ParamStore) -> None:
        self._store = store
        self._done: dict[Attribute, Array] = {}
        self._error: BaseException | None = None
        self._stopped = False
        self._thread: threading.Thread | None = None

    def __enter__(self) -> WeightPacking:
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped = True
        self._join()

    def start(self, attrs: Iterable[Attribute]) -> None:
        """Compute these; those that are not given here are computed when they are asked for."""
        wanted = list(dict.fromkeys(attrs))
        self._thread = threading.Thread(target=self._work, args=(wanted,), name="lamina-weights", daemon=True)
        self._thread.start()

    def result(self, attrs: Sequence[Attribute]) -> list[Array]:
        """The aligned values of constants. Raises what computing one of them has raised."""
        self._join()
        if self._error is not None:
            raise self._error
        self._work([a for a in attrs if a not in self._done], here=True)
        return [self._done[a] for a in attrs]

    def _join(self) -> None:
        if self._thread is not None:
            self._thread.join()

    def _work(self, attrs: Sequence[Attribute], here: bool = False) -> None:
        try:
            for attr in attrs:
                if self._stopped:
                    return
                self._done[attr] = aligned(self._value(attr))
        except BaseException as error:
            if here:
                raise
            self._error = error

    def _value(self, attr: Any) -> Array:
        """The value of a constant; what was derived for this program alone leaves the store again."""
        store = self._store
        derived = isinstance(attr, ParamAttr) and store.is_derived(attr)
        value = store.get(attr)
        if derived:
            store.release(attr)
        return value
