"""`lamina.jax.jit`: functions of JAX as compiled programs, one for each set of shapes, types and static arguments."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import partial, update_wrapper
from typing import Any

import numpy as np

from lamina.dialects.aligned_arrays import aligned_zeros
from lamina.dialects.dtypes import numpy_dtype
from lamina.driver.api import Executable, compile
from lamina.driver.relay_source import text_program
from lamina.errors import UnsupportedError, UsageError
from lamina.frontends.imported import ImportedModel
from lamina.jax.library import jax as library


@dataclass(frozen=True)
class JaxOptions:
    """The options of `lamina.jax.jit`."""

    target: str = "cpu"
    threads: int | None = None
    opt_level: int | None = None
    cache: bool = True
    numerics: str | None = None
    static_argnums: int | Sequence[int] | None = None
    static_argnames: str | Sequence[str] | None = None


def jit(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """A function of JAX that is exported and compiled when it is first called on arguments of given shapes and types.

    Arguments and results are pytrees of arrays, as with `jax.jit`; arrays of JAX, of NumPy and numbers are taken,
    arrays of JAX given. `static_argnums` and `static_argnames` are those of `jax.jit`: such an argument is a constant
    of the program and must be hashable. The others are `target`, `threads`, `opt_level`, `cache` and `numerics`, as in
    `lamina.compile`. Inside of a transformation of JAX (`jax.grad` of a compiled function, say) the function runs as
    JAX has it. Without a function it is a decorator: `@lamina.jax.jit(threads=1)`.

    Raises LaminaError, with the user's line, for what cannot be compiled, all ops that are missing at once.
    """
    known = [f.name for f in fields(JaxOptions)]
    for name in options:
        if name not in known:
            raise UsageError(f"there is no option {name!r}", where="lamina.jax.jit", hint=", ".join(known))
    made = JaxOptions(**options)
    return partial(JaxFunction, options=made) if function is None else JaxFunction(function, made)


class JaxFunction:
    """A function of JAX and its programs, the last ones kept."""

    MOST = 128

    def __init__(self, function: Callable[..., Any], options: JaxOptions) -> None:
        self.function = function
        self.options = options
        self._jax = library()
        self._jitted = self._jax.jit(
            function, static_argnums=options.static_argnums, static_argnames=options.static_argnames
        )
        self._programs: dict[Any, JaxProgram] = {}
        self._lock = threading.Lock()
        update_wrapper(self, function, updated=())

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        args_in, kwargs_in, static = self._split(args, kwargs)
        leaves, tree = self._jax.tree_util.tree_flatten((args_in, kwargs_in))
        if any(isinstance(leaf, self._jax.core.Tracer) for leaf in leaves):
            return self._jitted(*args, **kwargs)
        key = tree, static, tuple(map(self._kind, leaves)), self._jax.config.jax_enable_x64
        try:
            hash(key)
            program = self._programs.pop(key, None)
        except TypeError:
            raise UsageError("a static argument cannot be hashed", where=self._name) from None
        if program is None:
            program = self._compiled(args, kwargs)
        with self._lock:
            self._programs[key] = program  # the last one used stands last
            while len(self._programs) > self.MOST:
                del self._programs[next(iter(self._programs))]
        return program(leaves)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else partial(self, instance)

    @property
    def _name(self) -> str:
        return getattr(self.function, "__name__", "function")

    def text(self, *args: Any, **kwargs: Any) -> str:
        """The function as StableHLO's text, for arguments like these."""
        return str(self._exported(args, kwargs).mlir_module())

    def model(self, *args: Any, **kwargs: Any) -> ImportedModel:
        """The function as a Relay module, for arguments like these."""
        return text_program(self.text(*args, **kwargs), self._name)

    # -- what a program depends on --------------------------------------------------------------------------

    def _split(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any], Any]:
        """The arguments that are arrays, and those that are constants of the program."""
        numbers = _listed(self.options.static_argnums)
        names = _listed(self.options.static_argnames)
        if not numbers and not names:
            return args, kwargs, ()
        numbers, names = _static(self.function, numbers, names)
        places = {n % len(args) for n in numbers if -len(args) <= n < len(args)}
        static = (
            tuple((n, args[n]) for n in sorted(places)), tuple((n, kwargs[n]) for n in sorted(kwargs) if n in names),
        )  # fmt: skip
        rest = tuple(a for n, a in enumerate(args) if n not in places)
        return rest, {n: a for n, a in kwargs.items() if n not in names}, static

    def _kind(self, leaf: Any) -> Any:
        try:
            return leaf.shape, leaf.dtype, leaf.weak_type
        except AttributeError:
            pass
        if isinstance(leaf, (bool, int, float)):
            return type(leaf)
        if not hasattr(leaf, "shape") or not hasattr(leaf, "dtype"):
            what = f"an argument is a {type(leaf).__name__}, not an array"
            raise UsageError(what, where=self._name, hint="static_argnums or static_argnames make it a constant")
        return leaf.shape, leaf.dtype

    # -- programs -------------------------------------------------------------------------------------------

    def _exported(self, args: Any, kwargs: Any) -> Any:
        try:
            return self._jax.export.export(self._jitted, platforms=["cpu"])(*args, **kwargs)
        except ValueError as e:
            # What jax.export itself does not take: effects, callbacks.
            raise UnsupportedError(str(e).partition("\n")[0], where=self._name) from e

    def _compiled(self, args: Any, kwargs: Any) -> JaxProgram:
        exported = self._exported(args, kwargs)
        if len(exported.in_avals) and exported.nr_devices != 1:
            raise UnsupportedError(f"it is for {exported.nr_devices} devices", where=self._name)
        o = self.options
        executable = None
        if exported.out_avals:
            model = text_program(str(exported.mlir_module()), self._name)
            with warnings.catch_warnings():
                # Copies of this process, which compile kernels, run nothing of JAX's and do not wait for its threads.
                warnings.filterwarnings("ignore", r"os\.fork\(\) was called", RuntimeWarning)
                executable = compile(
                    model, o.target, threads=o.threads, opt_level=o.opt_level, cache=o.cache, numerics=o.numerics
                )
        return JaxProgram(self._jax, exported, executable)


def _static(function: Callable[..., Any], numbers: Sequence[Any], names: Sequence[Any]) -> tuple[list[int], list[str]]:
    """Places and names of the static arguments; as `jax.jit` does, either is found from the other."""
    import inspect

    found, named = list(numbers), list(names)
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return found, named
    by_place = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    if not numbers:
        found = [n for n, p in enumerate(by_place) if p.name in named]
    if not names:
        named = [by_place[n].name for n in found if -len(by_place) <= n < len(by_place)]
    return found, named


def _listed(given: Any) -> list[Any]:
    if given is None:
        return []
    return [given] if isinstance(given, (int, str)) else list(given)


class JaxProgram:
    """A compiled program as the function: leaves of pytrees in, a pytree of arrays out."""

    def __init__(self, jax: Any, exported: Any, executable: Executable | None) -> None:
        self._jax = jax
        self._kept = list(exported.module_kept_var_idx)

        def is_key(aval: Any) -> bool:
            return bool(jax.dtypes.issubdtype(aval.dtype, jax.dtypes.prng_key))

        self._inputs = [(n, exported.in_avals[n].dtype, is_key(exported.in_avals[n])) for n in self._kept]
        self._keys = [is_key(aval) for aval in exported.out_avals]
        self._tree = exported.out_tree
        self.executable = executable
        self._run: Callable[..., None] | None = None
        if executable is not None:
            try:
                self._run = executable.on_addresses()
            except UnsupportedError:
                self._run = None  # the virtual machine's

    def __call__(self, leaves: list[Any]) -> Any:
        arrays = [self._array(leaves[n], dtype, is_key) for n, dtype, is_key in self._inputs]
        found = self._computed(arrays)
        results = [self._given(a, is_key) for a, is_key in zip(found, self._keys, strict=True)]
        return self._jax.tree_util.tree_unflatten(self._tree, results)

    def _computed(self, arrays: list[Any]) -> list[Any]:
        if self.executable is None:
            return []
        if self._run is None:
            found = self.executable(*arrays)
            return list(found) if isinstance(found, tuple) else [found]  # pyright: ignore[reportUnknownArgumentType]
        outputs = [aligned_zeros(p.shape, numpy_dtype(p.dtype)) for p in self.executable.outputs]
        self._run([a.ctypes.data for a in arrays], [a.ctypes.data for a in outputs])
        return outputs

    def _array(self, leaf: Any, dtype: Any, is_key: bool) -> Any:
        """The memory of an argument, where it is an array of the CPU; numbers become arrays."""
        if is_key:
            leaf = self._jax.random.key_data(leaf)
            return np.ascontiguousarray(np.asarray(leaf))
        array = np.asarray(leaf)
        if array.dtype != dtype:
            array = array.astype(dtype)  # a number of Python's, or 64 bits where JAX has 32
        return array if array.flags.c_contiguous else np.ascontiguousarray(array).reshape(array.shape)

    def _given(self, array: Any, is_key: bool) -> Any:
        """A result as JAX's array, without a copy where DLPack has its element type."""
        jax = self._jax
        if is_key:
            return jax.random.wrap_key_data(jax.numpy.asarray(array))
        try:
            return jax.dlpack.from_dlpack(array)
        except (TypeError, ValueError, BufferError, RuntimeError):
            return jax.numpy.asarray(array)
