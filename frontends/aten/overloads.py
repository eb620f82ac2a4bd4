"""Calls without overloads, as scripts have them: the row of the table that their arguments fit.

An argument fits a parameter by what a converter's signature says of it: `Value` is a tensor, `int`, `float` and `bool`
are numbers, a `DType` may be the number of one, `Other` is a device.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from inspect import Parameter, Signature
from typing import Any

from lamina.errors import UnsupportedError
from lamina.frontends.aten.graph import AtenCall, DType, Other, Ref
from lamina.frontends.aten.table import converters, equations, overloads

_KINDS = {"int": (int,), "float": (int, float), "bool": (bool,), "str": (str,), "Other": (Other,)}


def resolved(call: AtenCall, dtypes: Sequence[str | None]) -> AtenCall:
    """The call with the overload that its arguments fit; `dtypes` are element types by their numbers.

    Raises UnsupportedError where there is none.
    """
    packet = call.packet
    found = overloads(packet)
    if not found:
        raise UnsupportedError("no converter", where=str(call.place), hint=call.target)
    ranked = sorted(found, key=lambda n: -_strictness(n))
    for name in ranked:
        if name in equations():
            return replace(call, target=_target(call, name), kwargs=_kept(call.kwargs, dtypes))
        sign = converters()[name][1]
        fit = _fitted(sign, call.args, call.kwargs, dtypes)
        if fit is not None:
            args, kwargs = fit
            return replace(call, target=_target(call, name), args=tuple(args), kwargs=kwargs)
    raise UnsupportedError(f"these arguments of {call.target} are not supported", where=str(call.place))


def _target(call: AtenCall, name: str) -> str:
    """The target of a row; a change in place keeps its underscore."""
    own, _, overload = name.partition(".")
    mark = "_" if call.packet.endswith("_") and not call.packet.endswith("__") else ""
    prefix = "" if own in ("prims", "quantized") else "aten."
    return f"{prefix}{own}{mark}" + (f".{overload}" if overload else "")


def _strictness(name: str) -> int:
    """The number of parameters whose kind a row states: those that state more are tried first."""
    if name in equations():
        return 0
    return sum(p.annotation not in ("Any", Parameter.empty) for p in converters()[name][1].parameters.values())


def _kept(kwargs: Mapping[str, Any], dtypes: Sequence[str | None]) -> dict[str, Any]:
    return {k: _dtype(v, dtypes) if k == "dtype" else v for k, v in kwargs.items() if v is not None}


def _dtype(value: Any, dtypes: Sequence[str | None]) -> Any:
    if isinstance(value, int) and not isinstance(value, bool):
        name = dtypes[value] if 0 <= value < len(dtypes) else None
        if name is None:
            raise UnsupportedError(f"the element type {value} is not supported")
        return DType(name)
    return value


def _fitted(
    sign: Signature, args: Sequence[Any], kwargs: Mapping[str, Any], dtypes: Sequence[str | None]
) -> tuple[list[Any], dict[str, Any]] | None:
    """The arguments as a signature wants them, None where they do not fit."""
    parameters = list(sign.parameters.values())[1:]
    places = [p for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.POSITIONAL_ONLY)]
    rest = next((p for p in parameters if p.kind is p.VAR_POSITIONAL), None)
    named = {p.name: p for p in parameters}
    # In Python's arithmetic on element types positions behind a `*` are given by place as well.
    places += [p for p in parameters if p.kind is p.KEYWORD_ONLY] if rest is None else []
    found: list[Any] = []
    extra: dict[str, Any] = {}
    for k, value in enumerate(args):
        parameter = places[k] if k < len(places) else rest
        if parameter is None:
            if value is None or isinstance(value, (bool, int)):  # memory formats and the like
                continue
            return None
        made = _fits(parameter, value, dtypes)
        if made is _NO:
            return None
        if parameter.kind is parameter.KEYWORD_ONLY:
            extra[parameter.name] = made
        else:
            found.append(made)
    for name, value in kwargs.items():
        if value is None and name not in named:
            continue
        if name in named:
            made = _fits(named[name], value, dtypes)
            if made is _NO:
                return None
            extra[name] = made
    given = {p.name for p in places[: len(found)]} | extra.keys()
    needed = [p for p in places if p.default is p.empty and p.name not in given]
    return None if needed else (found, extra)


_NO = object()


def _fits(parameter: Parameter, value: Any, dtypes: Sequence[str | None]) -> Any:
    """The argument as a parameter wants it."""
    kinds = [k.strip() for k in str(parameter.annotation).split("|")]
    if value is None:
        return None if "None" in kinds or "Any" in kinds or parameter.default is None else _NO
    if "DType" in kinds:
        made = _dtype(value, dtypes)
        return made if isinstance(made, DType) else _NO
    if "Any" in kinds:
        return value
    if isinstance(value, Ref):
        return value if "Value" in kinds else _NO
    if isinstance(value, (list, tuple)):
        return value if any(k.startswith("Sequence") for k in kinds) else _NO  # pyright: ignore[reportUnknownVariableType]
    return value if any(isinstance(value, _KINDS.get(k, ())) for k in kinds) else _NO
