"""Runs a function of NumPy once on traced arrays and gives what it did as a module."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple, NoReturn

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, SSAValue

from lamina.dialects.dtypes import tensor_type
from lamina.dialects.relay.params import ParamStore
from lamina.errors import LaminaError, UnsupportedError, UsageError
from lamina.frontends.builder import LIMIT, Value, function_of, name_hint
from lamina.frontends.frames import Frame
from lamina.frontends.imported import ImportedModel, Port
from lamina.frontends.numpy.array import TracedArray, innermost, unwrapped
from lamina.frontends.numpy.builder import NumpyBuilder, known_type
from lamina.frontends.numpy.complex_array import TracedComplex, called_ufunc, part_type, parts
from lamina.frontends.numpy.creation import tracing, wrapped
from lamina.frontends.numpy.table import full_name, functions, is_view, is_written
from lamina.frontends.tensor_builder import UNFIT


class FunctionTrace:
    """A function under construction."""

    def __init__(self, label: str, outer: FunctionTrace | None = None) -> None:
        self.label = label
        self.block = Block()
        self.store = ParamStore() if outer is None else outer.store
        self.builder = NumpyBuilder(self.block, self.store, label, LIMIT)
        if outer is not None:
            self.builder.frame = Frame(self.block, outer.builder.frame)
        self.inputs: list[Port] = []
        self.is_over = False
        """Whether the function has ended."""

    def run(self, function: Callable[..., Any], *args: Any) -> Any:
        """The result of a function of traced arrays."""
        functions()  # the table is read before NumPy's functions are wrapped
        try:
            with wrapped(), innermost(self), tracing(self):
                return function(*args)
        except (TypeError, ValueError) as e:
            # NumPy says of a number that it is no number, and keeps what we have said of it.
            if isinstance(e.__cause__, LaminaError):
                raise e.__cause__ from None
            raise

    def argument(self, name: str, array: Any) -> TracedArray:
        """Add an argument, of an array's type."""
        dtype, shape = known_type(array.dtype, f"{self.label}: {name}"), tuple(array.shape)
        argument = self.block.insert_arg(tensor_type(shape, dtype), len(self.block.args))
        argument.name_hint = name_hint(name) or None
        self.inputs.append(Port(name, shape, dtype))
        return TracedArray(self, Value(shape, dtype, ssa=argument, name=name))

    def lift(self, array: Any) -> TracedArray:
        """An array of known values as a traced one."""
        with self.calling("numpy.array") as b:
            return TracedArray(self, b.tensor(array))

    def stacked(self, nested: Any) -> TracedArray:
        """Nested lists with traced arrays as one array."""
        with self.calling("numpy.array") as b:
            return TracedArray(self, b.tensor(unwrapped(nested)))

    def by_name(self, name: str, x: TracedArray) -> TracedArray:
        """An operator of ATen on an array."""
        with self.calling(name) as b:
            return TracedArray(self, b.aten(name, x.tensor()))

    def complex_ufunc(self, ufunc: Any, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The result of a ufunc of operands some of which are complex."""
        return called_ufunc(ufunc, method, inputs, kwargs)

    def has_complex(self, types: Any) -> bool:
        """Whether complex arrays are among the arguments of these types."""
        return TracedComplex in types

    def as_complex(self, x: TracedArray, dtype: Any) -> TracedComplex:
        """A real array in a complex element type."""
        return TracedComplex(*parts(x.astype(part_type(dtype))))

    def refuse(self, function: str, what: str) -> NoReturn:
        """Raise UnsupportedError for a call."""
        with self.calling(function) as b:
            raise b.unsupported(what)

    @contextmanager
    def calling(self, function: str) -> Generator[NumpyBuilder]:
        """Emit the ops of a call of the user's program; what NumPy does meanwhile is ours."""
        b = self.builder
        if b.depth:
            yield b
            return
        b.begin(function)
        b.depth += 1
        try:
            with tracing(None):
                yield b
        except LaminaError:
            raise
        except UNFIT as e:
            text = " ".join(str(e).split())
            raise UsageError(f"{type(e).__name__}: {text}"[:300], where=b.where) from e
        finally:
            b.depth -= 1

    def call(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The result of a function of NumPy."""
        with self.calling(full_name(function)) as b:
            made = functions().get(function)
            if made is None:
                raise b.unsupported("this function is not supported", "write it with others, or report the need")
            out = kwargs.pop("out", None)
            inner = {k: unwrapped(v) for k, v in kwargs.items()}
            given = [unwrapped(a) for a in args]
            if is_view(function) and args and isinstance(args[0], TracedArray):
                return self._view(function, args[0], given[1:], inner)
            if is_written(function):
                self.into(args[0]).write(made(b, *given, **inner))
                return None
            found = self._results(made(b, *given, **inner))
            if out is None:
                return found
            self.into(out).write(found.tensor())
            return out

    def into(self, out: Any) -> TracedArray:
        """An array that is written to. Raises UsageError for one of NumPy, which has values now."""
        if isinstance(out, TracedArray):
            return out
        hint = "make it in the function, or with numpy.zeros_like(x)"
        raise UsageError("traced values cannot be written to an array of NumPy", where=self.builder.where, hint=hint)

    def _view(self, function: Any, base: TracedArray, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """The views of an array that a function gives."""
        b = self.builder
        made = functions()[function]
        found = made(b, base.tensor(), *args, **kwargs)

        def view(value: Any, pick: Callable[[Any], Any]) -> Any:
            return TracedArray.view_of(
                base,
                value,
                lambda: pick(made(b, base.tensor(), *args, **kwargs)),
                lambda p: pick(function(p, *args, **kwargs)),
            )

        if isinstance(found, Value):
            return view(found, lambda r: r)
        return type(found)(view(v, lambda r, k=k: r[k]) for k, v in enumerate(found))

    def _results(self, made: Any) -> Any:
        if isinstance(made, Value):
            return TracedArray(self, made)
        if isinstance(made, (list, tuple)):
            return type(made)(self._results(m) for m in made)  # pyright: ignore[reportUnknownVariableType,reportUnknownArgumentType]
        return made

    def inner(self, label: str) -> FunctionTrace:
        """A function in this one: it may take what stands here."""
        return FunctionTrace(label, self)

    def module(self, results: Sequence[Value]) -> tuple[ModuleOp, list[SSAValue]]:
        """A function in another one as a module, and what it takes of it beside its arguments."""
        module = self.builder.module([], [], [self.builder.ssa(r) for r in results], self.label)
        main = function_of(module)
        del main.properties["arg_attrs"], main.properties["res_attrs"]
        self.is_over = True
        return module, list(self.builder.frame.captured)

    def model(self, outputs: Sequence[tuple[str, Value]]) -> ImportedModel:
        """The function with its results."""
        results = [self.builder.ssa(v) for _, v in outputs]
        ports = tuple(Port(name, v.shape, v.dtype) for name, v in outputs)
        module = self.builder.module(self.inputs, ports, results, self.label)
        return ImportedModel(module, self.store, tuple(self.inputs), ports, {}, self.label)


@dataclass(frozen=True)
class Traced:
    """A function as a module, and what becomes of its results."""

    model: ImportedModel
    result: Any
    """The result of the function, with traced arrays where the module's results belong."""
    places: dict[int, int]
    """The module's results by the identity of the traced arrays."""
    written: dict[int, int]
    """The arguments that the function has written to, by their numbers, and the module's results for them."""


def trace(function: Callable[..., Any], arrays: Sequence[tuple[str, Any]], given: Callable[[list[Any]], Any]) -> Traced:
    """Run a function once. `given` calls it on arguments that are made of the traced arrays.

    Raises LaminaError, naming the user's line, for what cannot be traced.
    """
    label = getattr(function, "__name__", "function")
    made = FunctionTrace(label)
    arguments = [made.argument(name, array) for name, array in arrays]
    result = paired(made.run(given, list(arguments)))
    outputs: list[tuple[str, Value]] = []
    places: dict[int, int] = {}
    for array in traced_in(result):
        if id(array) not in places:
            places[id(array)] = len(outputs)
            outputs.append((f"result_{len(outputs)}" if len(outputs) else "result", array.tensor()))
    written: dict[int, int] = {}
    for k, array in enumerate(arguments):
        if array.is_written:
            written[k] = len(outputs)
            outputs.append((f"{arrays[k][0]}_after", array.tensor()))
    model = made.model(outputs)
    made.is_over = True
    return Traced(model, result, places, written)


class ComplexResult(NamedTuple):
    """A complex array among the results of a function."""

    real: Any
    imag: Any


def paired(result: Any) -> Any:
    """Results with pairs of real arrays in the place of complex ones."""
    if isinstance(result, TracedComplex):
        return ComplexResult(result.real, result.imag)
    if isinstance(result, dict):
        return {k: paired(v) for k, v in result.items()}  # pyright: ignore[reportUnknownVariableType]
    if isinstance(result, tuple) and hasattr(result, "_fields"):  # pyright: ignore[reportUnknownArgumentType]
        return type(result)(*map(paired, result))  # pyright: ignore[reportUnknownVariableType,reportUnknownArgumentType]
    if isinstance(result, (list, tuple)):
        return type(result)(map(paired, result))  # pyright: ignore[reportUnknownVariableType,reportUnknownArgumentType]
    return result


def traced_in(result: Any) -> list[TracedArray]:
    """The traced arrays in nested tuples, lists and dicts. Raises UnsupportedError for complex ones."""
    if isinstance(result, TracedComplex):
        raise UnsupportedError("a complex result is not supported here", hint="return its real and imaginary parts")
    if isinstance(result, TracedArray):
        return [result]
    if isinstance(result, dict):
        return [a for v in result.values() for a in traced_in(v)]  # pyright: ignore[reportUnknownVariableType]
    if isinstance(result, (list, tuple)):
        return [a for v in result for a in traced_in(v)]  # pyright: ignore[reportUnknownVariableType]
    return []
