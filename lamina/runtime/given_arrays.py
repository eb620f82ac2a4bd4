"""Arrays as callers give them: those of numpy, tensors of other libraries, lists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from lamina.dialects.numpy_dtypes import numpy_dtype
from lamina.errors import InputError, UsageError, did_you_mean

if TYPE_CHECKING:
    from lamina.runtime.ports import Port

    Array = np.ndarray[Any, np.dtype[Any]]


def _by_dlpack(value: Any) -> Array | None:
    """A tensor of another library without a copy; None where it has none, of another device or element type."""
    if isinstance(value, np.ndarray) or not hasattr(value, "__dlpack__"):
        return None
    try:
        return cast("Array", np.from_dlpack(value))
    except (BufferError, RuntimeError, TypeError, ValueError):
        return None


def as_array(name: str, value: Any) -> Any:
    """The array that is given for an input, without a copy where it has its memory. Raises InputError for none."""
    shared = _by_dlpack(value)
    if shared is not None:
        return shared
    try:
        return np.asarray(value)
    except (ValueError, TypeError, RuntimeError) as e:
        said = " ".join(str(e).split())[:120]
        raise InputError(f"not an array: {said}", where=f"input {name!r}", hint="give a numpy array") from None


def named_arrays(inputs: Mapping[str, Any] | None, named: Mapping[str, Any]) -> Mapping[str, Any]:
    """The inputs of a call, of which some may be keywords. Raises UsageError for one that is given twice."""
    if inputs is None or not named:
        return named if inputs is None else inputs
    if twice := [name for name in named if name in inputs]:
        raise UsageError("given twice", where=f"input {twice[0]!r}")
    return {**inputs, **named}


def given_outputs(ports: Sequence[Port], out: Mapping[str, Array] | None, inputs: Sequence[Array]) -> list[Array]:
    """The arrays for outputs of known shapes: those of `out`, and new ones.

    Raises InputError for arrays of outputs that there are not, that do not fit, or whose memory is another's too.
    """
    if out is None:
        return [np.empty(p.shape, numpy_dtype(p.dtype)) for p in ports]
    check_names(ports, out)
    results = [_result(p, out.get(p.name)) for p in ports]
    for n, (port, result) in enumerate(zip(ports, results, strict=True)):
        if port.name in out and any(np.shares_memory(result, other) for other in [*inputs, *results[:n]]):
            raise InputError("shares memory with another tensor", where=f"output {port.name!r}")
    return results


def check_names(ports: Sequence[Port], out: Mapping[str, Array]) -> None:
    """Raise InputError for an output that there is not."""
    names = [p.name for p in ports]
    for name in out:
        if name not in names:
            hint = did_you_mean(name, names) or f"it has {', '.join(names)}"
            raise InputError("the model has no such output", where=f"output {name!r}", hint=hint)


def copied_outputs(results: Mapping[str, Any], out: Mapping[str, Array]) -> dict[str, Any]:
    """Results, those of `out` in its arrays. Raises InputError for an array that does not fit."""
    found = dict(results)
    for name, given in out.items():
        result: Any = results[name]
        if type(result) is not np.ndarray:
            raise InputError("it is no tensor", where=f"output {name!r}", hint="leave it out of `out`")
        if type(given) is not np.ndarray or (given.shape, given.dtype) != (result.shape, result.dtype):
            what = f"{result.dtype}[{', '.join(map(str, result.shape))}] expected"
            raise InputError(what, where=f"output {name!r}")
        if not given.flags.writeable:
            raise InputError("not an array that can be written", where=f"output {name!r}")
        np.copyto(given, result)
        found[name] = given
    return found


def _result(port: Port, given: Any) -> Array:
    if given is None:
        return np.empty(port.shape, numpy_dtype(port.dtype))
    if type(given) is not np.ndarray or given.shape != port.shape or given.dtype != numpy_dtype(port.dtype):
        raise InputError(f"{port.describe()} expected", where=f"output {port.name!r}")
    if not given.flags.c_contiguous or not given.flags.writeable:
        raise InputError("not an array that can be written in order", where=f"output {port.name!r}")
    return given
