"""Traced arrays: what stands in the place of NumPy's arrays while a function runs once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from lamina.dialects.dtypes import numpy_dtype
from lamina.errors import UnsupportedError, UsageError
from lamina.frontends.builder import Value
from lamina.frontends.numpy import indexing, ufuncs
from lamina.frontends.numpy.storage import ArrayStorage
from lamina.frontends.numpy.table import functions

if TYPE_CHECKING:
    from lamina.frontends.numpy.trace import FunctionTrace


_state = threading.local()


def current() -> FunctionTrace | None:
    """The innermost function that this thread traces."""
    return getattr(_state, "trace", None)


@contextmanager
def innermost(trace: FunctionTrace) -> Generator[None]:
    """Let this thread trace a function."""
    before = current()
    _state.trace = trace
    try:
        yield
    finally:
        _state.trace = before


class TracedAttributeError(UnsupportedError, AttributeError):
    """An attribute of arrays that traced ones do not have."""


class TracedArray(NDArrayOperatorsMixin):
    """An array whose values are known when the compiled function runs; its shape and element type are known now.

    It is written to as NumPy's arrays are, and is a view of another one where NumPy's result would be one. Python's
    `if`, `int` and `float` of it are errors that name the line, unless its values are known.
    """

    def __init__(self, trace: FunctionTrace, value: Value) -> None:
        self._own = trace
        self._storage = ArrayStorage(value)
        self._base: TracedArray | None = None
        self._remake: Callable[[], Value] | None = None
        self._select: Callable[[Any], Any] | None = None
        self._seen = 0

    @staticmethod
    def view_of(base: TracedArray, value: Value, remake: Callable[[], Value], select: Callable[[Any], Any]) -> Any:
        """A part of another array: `remake` gives its tensor, `select` takes it from an array of NumPy."""
        found = TracedArray(base._own, value)
        found._base, found._remake, found._select, found._seen = base, remake, select, base._version
        return found

    # -- values --------------------------------------------------------------------------------------

    @property
    def _trace(self) -> FunctionTrace:
        """The function that is being traced: this one's, or one in it (of a gradient) that has captured the array."""
        found = current() or self._own
        if found.is_over:
            what = "a traced array is used after its function has ended"
            raise UsageError(what, hint="return it, and keep no reference to it elsewhere")
        return found

    @property
    def _version(self) -> int:
        return self._storage.version if self._base is None else self._base._version

    @property
    def is_written(self) -> bool:
        """Whether something has been written to it."""
        return self._version > 0

    def tensor(self) -> Value:
        """The values at this moment."""
        if self._base is None:
            return self._storage.read(self._trace.builder)
        if self._seen != self._base._version:
            assert self._remake is not None
            self._storage.replace(self._remake())
            self._seen = self._base._version
        return self._storage.read(self._trace.builder)

    def write(self, value: Value) -> None:
        """Write to all elements; the value is broadcast, and cast as assignments are."""
        b = self._trace.builder
        if self._trace is not self._own:
            raise b.unsupported("an array of the function around is written to", "return what is new of it")
        if not _fits(value.shape, self.shape):
            what = f"could not broadcast an array of shape {value.shape} into shape {self.shape}"
            raise UsageError(what, where=b.where)
        lead = value.rank - len(self.shape)
        value = b.reshape(value, value.shape[max(lead, 0) :])
        value = b.broadcast(b.cast(value, self._storage.dtype), self.shape)
        if self._base is None:
            self._storage.replace(value)
            return
        self._base.write_at(self._places(), value)

    def write_at(self, places: Any, value: Value) -> None:
        """Write to elements by their places in the flat array."""
        if self._trace is not self._own:
            raise self._trace.builder.unsupported("an array of the function around is written to")
        if self._base is None:
            self._storage.write(places, value)
        else:
            self._base.write_at(self._places().reshape(-1)[places], value)

    def _places(self) -> Any:
        """The places of the elements in the base."""
        assert self._base is not None and self._select is not None
        return self._select(np.arange(self._base.size).reshape(self._base.shape))

    # -- what NumPy's arrays have --------------------------------------------------------------------

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents."""
        return self._storage.shape

    @property
    def dtype(self) -> Any:
        """NumPy's element type."""
        return numpy_dtype(self._storage.dtype)

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return prod(self.shape)

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        return int(self.dtype.itemsize)

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self.size * self.itemsize

    @property
    def T(self) -> Any:
        """The array with its axes turned around."""
        return np.transpose(self)  # type: ignore[call-overload]

    @property
    def mT(self) -> Any:
        """The array with its last two axes changed for each other."""
        return np.swapaxes(self, -1, -2)  # type: ignore[call-overload]

    @property
    def real(self) -> Any:
        """Itself: it is not complex."""
        return self

    @property
    def imag(self) -> Any:
        """Zeros."""
        return np.zeros_like(self)  # type: ignore[call-overload]

    @property
    def flat(self) -> Any:
        """The elements in order."""
        return np.ravel(self)  # type: ignore[call-overload]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        with self._trace.calling("") as b:
            raise TracedAttributeError(f"traced arrays have no attribute {name!r}", where=b.where)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        return (self[k] for k in range(len(self)))

    def __repr__(self) -> str:
        return f"TracedArray({self._storage.dtype}{list(self.shape)})"

    __hash__ = None  # type: ignore[assignment]

    # -- values that must be known -------------------------------------------------------------------

    def _known(self, what: str, hint: str) -> Any:
        with self._trace.calling(""):
            value = self.tensor()
            if value.array is None:
                text = f"a traced array as {what}: its values are known when the compiled function runs"
                raise UsageError(text, where=self._trace.builder.where, hint=hint)
            return value.array

    def __bool__(self) -> bool:
        return bool(self._known("a Python truth value", "numpy.where takes from both branches"))

    def __int__(self) -> int:
        return int(self._known("a Python int", "astype('int64') stays an array"))

    def __float__(self) -> float:
        return float(self._known("a Python float", "it can stay an array of no axes"))

    def __index__(self) -> int:
        return int(self._known("an extent or index of Python", "use an argument that is a Python int"))

    def item(self, *place: int) -> Any:
        """An element as a number of Python, where it is known."""
        return self._known("a Python number", "it can stay an array of no axes").item(*place)

    def tolist(self) -> Any:
        """The values as lists of Python, where they are known."""
        return self._known("a Python list", "index the array").tolist()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        hint = "give numpy.zeros and numpy.array like=, or write to an array made from a traced one"
        return np.array(self._known("an array of NumPy", hint), dtype)

    # -- calls ---------------------------------------------------------------------------------------

    def __getitem__(self, key: Any) -> Any:
        with self._trace.calling("x[key]") as b:
            made = indexing.Key(b, unwrapped(key), self.shape)
            found = self._part(made)
            if not made.is_basic:
                return TracedArray(self._trace, found)
            return TracedArray.view_of(self, found, lambda: self._part(made), lambda places: places[made.plain()])

    def _part(self, key: indexing.Key) -> Value:
        """The part that an index takes; of an array that is being filled the pieces, where they are all of it."""
        b = self._trace.builder
        if self._base is not None or not key.is_known or not self._storage.is_open:
            return indexing.taken(b, self.tensor(), key)
        found = self._storage.part(b, key.places(b))
        return indexing.taken(b, self._storage.before, key) if found is None else found

    def __setitem__(self, key: Any, given: Any) -> None:
        with self._trace.calling("x[key] = y") as b:
            made = indexing.Key(b, unwrapped(key), self.shape)
            value = b.tensor(unwrapped(given))
            if type(given) in (bool, int, float) or value.dtype != self._storage.dtype:
                value = b.cast(value, self._storage.dtype)
            if not made.is_known or (made.is_basic and self._is_large(made)):
                self.write(indexing.written(b, self.tensor(), made, value))
                return
            places = made.places(b)
            if not _fits(value.shape, places.shape):
                what = f"could not broadcast an array of shape {value.shape} into shape {places.shape}"
                raise UsageError(what, where=b.where)
            value = b.reshape(value, value.shape[max(value.rank - places.ndim, 0) :])
            if places.size == self.size and np.array_equal(places.reshape(-1), np.arange(self.size)):
                self.write(b.reshape(b.broadcast(value, places.shape), self.shape))
            elif places.size:
                self.write_at(places, b.broadcast(value, places.shape))

    def _is_large(self, key: indexing.Key) -> bool:
        """Whether a part is written at once rather than kept until somebody reads: a box of many elements."""
        if self.size > ArrayStorage.MOST:
            return True
        return self._base is None and np.empty(self.shape, bool)[key.plain()].size > ArrayStorage.BOX

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if any(is_complex(x) for x in (*inputs, *kwargs.get("out", ()))):
            return self._trace.complex_ufunc(ufunc, method, inputs, kwargs)
        with self._trace.calling(f"numpy.{ufunc.__name__}" + ("" if method == "__call__" else f".{method}")):
            out = kwargs.pop("out", None)
            # That of a reduction says which elements count.
            where = kwargs.pop("where", True) if method == "__call__" else True
            kwargs.pop("casting", None)
            dtype = kwargs.pop("dtype", None)
            made = self._called(ufunc, method, [unwrapped(i) for i in inputs], dtype, kwargs)
            if method == "at":
                return None
            several = isinstance(made, tuple)
            results: list[Any] = list(made) if several else [made]  # pyright: ignore[reportUnknownArgumentType]
            outs: list[Any] = list(out) if isinstance(out, tuple) else [out] * len(results)  # pyright: ignore[reportUnknownArgumentType]
            given = tuple(self._given(ufunc, r, o, unwrapped(where)) for r, o in zip(results, outs, strict=True))
            return given if several else given[0]

    def _called(self, ufunc: np.ufunc, method: str, inputs: list[Any], dtype: Any, kwargs: dict[str, Any]) -> Any:
        """The results of a ufunc or of one of its methods, as tensors."""
        b = self._trace.builder
        if method in ("__call__", "outer"):
            if kwargs:
                raise b.unsupported(f"the argument {next(iter(kwargs))} is not supported")
            return ufuncs.call(b, ufunc, inputs, dtype) if method == "__call__" else ufuncs.outer(b, ufunc, *inputs)
        x = b.tensor(inputs[0])
        if method == "reduce":
            axis = kwargs.get("axis", 0)
            keep, initial = bool(kwargs.get("keepdims", False)), kwargs.get("initial")
            initial = None if initial is np._NoValue else initial  # type: ignore[attr-defined]
            where = unwrapped(kwargs.get("where", True))
            known = ufuncs.REDUCED.get(ufunc.__name__)
            if known is not None and initial is None:
                given = {"dtype": dtype} if dtype is not None else {}
                return functions()[known](b, x, axis=axis, keepdims=keep, where=where, **given)
            if where is not True:
                raise b.unsupported("the argument where is not supported")
            return ufuncs.reduced(b, ufunc, x, axis, keep, initial)
        if method == "accumulate":
            known = ufuncs.ACCUMULATED.get(ufunc.__name__)
            axis = kwargs.get("axis", 0)
            if known is not None:
                return functions()[known](b, x, axis, dtype)
            return ufuncs.accumulated(b, ufunc, x, axis)
        if method == "at" and isinstance(inputs[0], Value):
            self._at(ufunc, *inputs[1:])
            return None
        raise b.unsupported(f"the method {method} of ufuncs is not supported")

    def _at(self, ufunc: np.ufunc, key: Any, *values: Any) -> None:
        b = self._trace.builder
        made = indexing.Key(b, key, self.shape)
        if ufunc.__name__ not in ("add", "subtract") or any(not isinstance(p, (Value, int)) for p in made.parts):
            raise b.unsupported("only numpy.add.at and subtract.at with arrays of integers are supported")
        value = b.tensor(values[0], self._storage.dtype)
        if ufunc.__name__ == "subtract":
            value = b.aten("neg", value)
        indices = [b.tensor(p) for p in made.parts]
        shape = np.broadcast_shapes(*(i.shape for i in indices))
        self.write(b.aten("index_put", self.tensor(), indices, b.broadcast(value, shape), True))

    def _given(self, ufunc: np.ufunc, result: Value, out: Any, where: Any) -> Any:
        """A result as the caller wants it: in an array of theirs, and only where they say."""
        b = self._trace.builder
        if where is not True:
            before = out.tensor() if isinstance(out, TracedArray) else b.zeros(result.shape, result.dtype)
            mask, result, before = b.spread(b.tensor(where, "bool"), result, b.cast(before, result.dtype))
            result = b.choose(mask, result, before)
        if out is None:
            return TracedArray(self._trace, result)
        into = self._trace.into(out)
        if not np.can_cast(numpy_dtype(result.dtype), into.dtype, "same_kind"):
            what = f"cannot cast the output of {ufunc.__name__} from {result.dtype} to {into.dtype}"
            raise UsageError(what, where=b.where, hint="write x = x + y, or use astype")
        into.write(result)
        return into

    def __array_function__(self, func: Any, types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if len(types) > 1 and self._trace.has_complex(types):
            return NotImplemented  # the complex one is asked next
        return self._trace.call(func, args, kwargs)

    # -- methods -------------------------------------------------------------------------------------

    def astype(
        self, dtype: Any, order: str = "K", casting: str = "unsafe", subok: bool = True, copy: bool = True
    ) -> Any:
        """The array in another element type; itself with `copy=False` where it has that type."""
        if not copy and np.dtype(dtype) == self.dtype:
            return self
        if np.dtype(dtype).kind == "c":
            return self._trace.as_complex(self, dtype)
        with self._trace.calling("astype") as b:
            return TracedArray(self._trace, b.cast(self.tensor(), b.dtype_of(dtype, self._storage.dtype)))

    def view(self, dtype: Any = None) -> Any:
        """The bits as another element type of the same size."""
        if dtype is None or isinstance(dtype, type) and issubclass(dtype, np.ndarray):
            return self[...]
        with self._trace.calling("view") as b:
            name = b.dtype_of(dtype, "")
            if numpy_dtype(name).itemsize != self.itemsize:
                raise b.unsupported("bits as a type of another size", "use a type of the same size")
            return TracedArray(self._trace, b.op("reinterpret", self.tensor(), dtype=name))

    def fill(self, value: Any) -> None:
        """Write a number to all elements."""
        self[...] = value

    def flatten(self, order: str = "C") -> Any:
        """A copy with one axis."""
        return np.ravel(self, order).copy()  # type: ignore[call-overload]

    def sort(self, axis: int = -1) -> None:
        """Sort in place."""
        self[...] = np.sort(self, axis)  # type: ignore[call-overload]

    def reshape(self, *shape: Any, order: str = "C", copy: Any = None) -> Any:
        """The array in another shape."""
        return np.reshape(self, shape[0] if len(shape) == 1 else shape, order)  # type: ignore[call-overload]

    def transpose(self, *axes: Any) -> Any:
        """The array with its axes in another order."""
        given = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes or None
        return np.transpose(self, given)  # type: ignore[call-overload]

    def tobytes(self, order: str = "C") -> bytes:
        """The bytes, where the values are known."""
        return bytes(self._known("bytes", "they are known when the compiled function runs").tobytes())


METHODS = (
    "all any argmax argmin argsort clip compress conj conjugate copy cumprod cumsum diagonal dot max mean min prod "
    "ptp ravel repeat round searchsorted squeeze std sum swapaxes take trace var"
)
"""Methods of arrays that are NumPy's functions of the same name."""


def method_of(name: str) -> Callable[..., Any]:
    """A method that is NumPy's function of a name."""
    function = getattr(np, name)

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        return function(self, *args, **kwargs)

    call.__name__ = name
    call.__doc__ = f"As numpy.{name}."
    return call


for _name in METHODS.split():
    setattr(TracedArray, _name, method_of(_name))


def is_complex(x: Any) -> bool:
    """Whether an operand is a complex number or array."""
    return isinstance(x, complex) or getattr(getattr(x, "dtype", None), "kind", "") == "c"


def unwrapped(given: Any) -> Any:
    """An argument with tensors in the place of traced arrays."""
    if isinstance(given, TracedArray):
        return given.tensor()
    if isinstance(given, list):
        return [unwrapped(g) for g in given]  # pyright: ignore[reportUnknownVariableType]
    if type(given) is tuple:
        return tuple(unwrapped(g) for g in given)  # pyright: ignore[reportUnknownVariableType]
    if isinstance(given, slice):
        ends: Any = given  # pyright: ignore[reportUnknownVariableType]
        return slice(unwrapped(ends.start), unwrapped(ends.stop), unwrapped(ends.step))
    return given


def _fits(shape: tuple[int, ...], into: tuple[int, ...]) -> bool:
    """Whether an assignment broadcasts one shape into another: axes of one element in front may be left out."""
    lead = max(len(shape) - len(into), 0)
    if any(e != 1 for e in shape[:lead]):
        return False
    rest = shape[lead:]
    return all(e in (1, f) for e, f in zip(reversed(rest), reversed(into), strict=False))
