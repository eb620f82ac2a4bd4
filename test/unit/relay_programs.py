"""Programs of Relay's functional language as data: their text, and what they mean, by walking them in Python.

    program.text()                     what the parser reads
    program.evaluate(arguments)        the result of @main, with numpy and without anything of ours

A list is a pair of head and tail, or (); a cell is a list of one; a function is a Python function.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeAlias

import numpy as np

Type: TypeAlias = "str | tuple[Any, ...]"
"""A tensor type's text, or ("tuple", types), ("fn", parameters, result), ("list", type), ("ref", type)."""

F, V, I, B = "tensor<f32>", "tensor<3xf32>", "tensor<i64>", "tensor<i1>"  # noqa: E741
LIST = "relay.type @List<A> { Nil, Cons(!relay.var<A>, !relay.adt<@List, !relay.var<A>>) }"


def type_text(type_: Type) -> str:
    if isinstance(type_, str):
        return type_
    if type_[0] == "tuple":
        return f"tuple<{', '.join(map(type_text, type_[1]))}>"
    if type_[0] == "fn":
        return f"({', '.join(map(type_text, type_[1]))}) -> {_result_text(type_[2])}"
    if type_[0] == "list":
        return f"!relay.adt<@List, {type_text(type_[1])}>"
    return f"!relay.ref<{type_text(type_[1])}>"


def _result_text(type_: Type) -> str:
    return f"({type_text(type_)})" if type_[0] == "fn" else type_text(type_)


UNARY: dict[str, Callable[[Any], Any]] = {
    "relay.tanh": np.tanh,
    "relay.negative": np.negative,
    "relay.abs": np.abs,
    "relay.nn.relu": lambda x: np.where(x > 0, x, np.float32(0)),
}
BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "relay.add": np.add,
    "relay.subtract": np.subtract,
    "relay.multiply": np.multiply,
    "relay.maximum": np.maximum,
}


@dataclass
class Let:
    """One statement: a name for what a kind of statement makes of earlier names."""

    name: str
    type: Type
    kind: str
    names: list[str] = field(default_factory=list[str])
    types: list[Type] = field(default_factory=list["Type"])
    blocks: list[Body] = field(default_factory=list["Body"])
    detail: Any = None


@dataclass
class Body:
    """Statements with parameters, and the name of the result."""

    parameters: list[tuple[str, Type]]
    lets: list[Let]
    result: str
    type: Type


@dataclass
class Program:
    functions: dict[str, Body]
    results: list[tuple[str, Type]]

    def text(self) -> str:
        lines = [LIST]
        for name, body in self.functions.items():
            given = ", ".join(f"%{n}: {type_text(t)}" for n, t in body.parameters)
            lines.append(f"func.func @{name}({given}) -> {_result_text(body.type)} {{")
            lines += [f"  {line}" for let in body.lets for line in _lines(let)]
            lines += [f"  return %{body.result} : {type_text(body.type)}", "}"]
        return "\n".join(lines) + "\n"

    def evaluate(self, arguments: Sequence[Any]) -> Any:
        with np.errstate(all="ignore"):
            return self._call(self.functions["main"], arguments, {})

    # -- the meaning -----------------------------------------------------------------------------------------------

    def _call(self, body: Body, arguments: Sequence[Any], outer: dict[str, Any]) -> Any:
        values = outer | {n: a for (n, _), a in zip(body.parameters, arguments, strict=True)}
        for let in body.lets:
            values[let.name] = self._value(let, values)
        return values[body.result]

    def _call_global(self, name: str, *given: Any) -> Any:
        return self._call(self.functions[name], given, {})

    def _value(self, let: Let, values: dict[str, Any]) -> Any:
        args = [values[n] for n in let.names]
        kind = let.kind
        if kind in UNARY:
            return UNARY[kind](*args)
        if kind in BINARY:
            return BINARY[kind](*args)
        if kind == "constant":
            return let.detail
        if kind == "relay.max":
            return np.max(args[0])
        if kind == "relay.greater":
            return args[0] > args[1]
        if kind == "tuple":
            return tuple(args)
        if kind == "item":
            return args[0][let.detail]
        if kind == "if":
            return self._call(let.blocks[0 if args[0] else 1], [], values)
        if kind == "match":
            for (shape, _), block in zip(let.detail, let.blocks, strict=True):
                found = _fields(shape, args[0])
                if found is not None:
                    return self._call(block, found, values)
            raise AssertionError("no case fits")
        if kind == "fn":
            inner, *own = let.detail
            captured = dict(zip(inner, args, strict=True))

            def closure(*given: Any) -> Any:
                return self._call(let.blocks[0], given, captured | dict.fromkeys(own, closure))

            return closure
        if kind == "call":
            return args[0](*args[1:])
        if kind == "func.call":
            return self._call(self.functions[let.detail], args, {})
        if kind == "global":
            return partial(self._call_global, let.detail)
        if kind == "Nil":
            return ()
        if kind == "Cons":
            return (args[0], args[1])
        if kind == "ref_create":
            return [args[0]]
        if kind == "ref_read":
            return args[0][0]
        assert kind == "ref_write"
        args[0][0] = args[1]
        return None


def _fields(shape: str, value: Any) -> list[Any] | None:
    """What the patterns that are made here take out of a list, None where one does not fit."""
    if shape == "Nil":
        return [] if value == () else None
    if shape == "Cons":
        return list(value) if value != () else None
    if shape == "two":
        return [value[0], value[1][0], value[1][1]] if value != () and value[1] != () else None
    return []


def _lines(let: Let) -> list[str]:
    """A statement as text."""
    own, type_ = f"%{let.name}", type_text(let.type)
    args = ", ".join(f"%{n}" for n in let.names)
    types = ", ".join(map(type_text, let.types))
    kind = let.kind
    if kind == "constant":
        value = np.asarray(let.detail)
        return [f"{own} = relay.constant dense<{value.tolist()}> : {type_}"]
    if kind in UNARY or kind == "relay.max":
        attributes = " {axis = [0]}" if kind == "relay.max" else ""
        return [f"{own} = {kind} {args}{attributes} : ({types}) -> {type_}"]
    if kind in BINARY or kind == "relay.greater":
        return [f"{own} = {kind} {args} : ({types}) -> {type_}"]
    if kind == "tuple":
        return [f"{own} = relay.tuple({args}) : {type_}"]
    if kind == "item":
        return [f"{own} = relay.tuple_get_item {args}[{let.detail}] : {types}"]
    if kind == "if":
        first, second = (_inside(b) for b in let.blocks)
        return [f"{own} = relay.if {args} -> {_result_text(let.type)} {{", *first, "} else {", *second, "}"]
    if kind == "match":
        lines = [f"{own} = relay.match {args} : {types} -> {_result_text(let.type)} {{"]
        for (_, pattern), block in zip(let.detail, let.blocks, strict=True):
            lines += [f"  case {pattern} {{", *(f"  {line}" for line in _inside(block)), "  }"]
        return [*lines, "}"]
    if kind == "fn":
        inner, *names = let.detail
        pairs = zip(inner, let.names, let.types, strict=True)
        captures = ", ".join(f"%{i} = %{n} : {type_text(t)}" for i, n, t in pairs)
        body = let.blocks[0]
        given = ", ".join(f"%{n}: {type_text(t)}" for n, t in body.parameters)
        head = f"{own} = relay.fn {f'captures({captures}) ' if captures else ''}"
        head += "".join(f"self %{n} " for n in names) + f"({given}) -> {_result_text(body.type)} {{"
        return [head, *_inside(body, "relay.return"), "}"]
    if kind == "call":
        callee, *rest = (f"%{n}" for n in let.names)
        return [f"{own} = relay.call {callee}({', '.join(rest)}) : {type_text(let.types[0])}"]
    if kind == "func.call":
        return [f"{own} = func.call @{let.detail}({args}) : ({types}) -> {_result_text(let.type)}"]
    if kind == "global":
        return [f"{own} = relay.global @{let.detail} : {type_}"]
    if kind in ("Nil", "Cons"):
        return [f"{own} = relay.construct {kind}({args}) : ({types}) -> {type_}"]
    if kind == "ref_create":
        return [f"{own} = relay.ref_create {args} : {types}"]
    if kind == "ref_read":
        return [f"{own} = relay.ref_read {args} : {types}"]
    assert kind == "ref_write"
    return [f"relay.ref_write {args} : {type_text(let.types[1])}"]


def _inside(body: Body, end: str = "relay.yield") -> list[str]:
    lines = [f"  {line}" for let in body.lets for line in _lines(let)]
    return [*lines, f"  {end} %{body.result} : {type_text(body.type)}"]
