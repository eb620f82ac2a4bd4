"""Random programs of Relay's functional language.

Tuples, choices, closures that capture, recursion with a counter (local and of the module), lists folded from either
end, nested patterns, cells written inside closures. Every program ends: what calls itself counts or goes down a list.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .relay_programs import BINARY, UNARY, B, Body, F, I, Let, Program, Type, V, type_text

DATA: tuple[Type, ...] = (F, V, ("list", F), ("tuple", (F, V)), ("tuple", (V, ("list", F))))
"""What functions take and give, besides functions."""
MOST_STATEMENTS = 40
"""After as many, what is drawn nests no further."""


class _Scope:
    """The statements of a block so far, and what they may refer to."""

    def __init__(self, maker: _Maker, known: list[tuple[str, Type]], depth: int) -> None:
        self.maker = maker
        self.known = list(known)
        self.depth = depth
        self.lets: list[Let] = []

    def add(self, type_: Type, kind: str, names: Sequence[str] = (), **more: Any) -> str:
        types = dict(self.known)
        name = self.maker.name()
        let = Let(name, type_, kind, list(names), [types[n] for n in names], **more)
        self.lets.append(let)
        if kind != "ref_write":
            self.known.append((name, type_))
        return name

    def some(self, type_: Type, fresh: float = 0.25) -> str:
        """A value of a type: one that there is, or a new one."""
        found = [n for n, t in self.known if t == type_]
        if found and self.maker.random.random() > fresh:
            # What is near is likelier: results of statements get used.
            return self.maker.random.choice(found[-6:])
        return self.make(type_)

    def make(self, type_: Type) -> str:
        random_ = self.maker.random
        if type_ in (F, V):
            shape = () if type_ == F else (3,)
            value = np.asarray(np.round(self.maker.values.uniform(-2, 2, shape), 2), np.float32)
            return self.add(type_, "constant", detail=value)
        if type_ == I:
            return self.add(type_, "constant", detail=np.asarray(random_.randint(0, 3), np.int64))
        if type_ == B:
            return self.add(B, "relay.greater", [self.some(F), self.some(F)])
        if type_[0] == "tuple":
            return self.add(type_, "tuple", [self.some(t) for t in type_[1]])
        if type_[0] == "list":
            made = self.add(type_, "Nil")
            for _ in range(random_.randint(0, 3)):
                made = self.add(type_, "Cons", [self.some(type_[1]), made])
            return made
        if type_[0] == "ref":
            return self.add(type_, "ref_create", [self.some(type_[1])])
        return self.closure(type_)

    def closure(self, type_: Type, recursive: bool = False) -> str:
        """A local function. A recursive one counts its first argument down."""
        random_ = self.maker.random
        captured = random_.sample(self.known, min(len(self.known), random_.randint(0, 3)))
        # What is written inside and read outside shows whether cells are shared.
        cells = [k for k in self.known if k[1][0] == "ref" and k not in captured]
        captured += random_.sample(cells, min(len(cells), 1))
        inner = [(self.maker.name(), t) for _, t in captured]
        parameters = [(self.maker.name(), t) for t in type_[1]]
        own = [self.maker.name()] if recursive else []
        known = [*inner, *parameters]
        if recursive:
            body = self.counting(
                known, parameters, lambda s, args: s.add(type_[2], "call", [own[0], *args]), own, type_
            )
        else:
            body = self.block(known, parameters, type_[2])
        detail = ([n for n, _ in inner], *own)
        return self.add(type_, "fn", [n for n, _ in captured], blocks=[body], detail=detail)

    def counting(
        self,
        known: list[tuple[str, Type]],
        parameters: list[tuple[str, Type]],
        again: Callable[[_Scope, list[str]], str],
        own: Sequence[str],
        type_: Type,
    ) -> Body:
        """(n, x, ...) -> x: while n > 0, once more with n - 1 and a new x. Then perhaps something with the result."""
        scope = _Scope(self.maker, [*known, *((n, type_) for n in own)], self.depth + 1)
        count, carried = parameters[0][0], parameters[1]
        zero = scope.add(I, "constant", detail=np.asarray(0, np.int64))
        more = scope.add(B, "relay.greater", [count, zero])
        inside = _Scope(self.maker, scope.known, self.depth + 1)
        # The loop itself is no function that the drawn statements may call: they would not end.
        inside.known = [(n, t) for n, t in inside.known if n not in own]
        one = inside.add(I, "constant", detail=np.asarray(1, np.int64))
        less = inside.add(I, "relay.subtract", [count, one])
        inside.statements(2)
        changed = inside.some(carried[1], 0.5)
        inside.known += [(n, type_) for n in own]
        result = again(inside, [less, changed])
        if self.maker.random.random() < 0.5 and carried[1] in (F, V):
            result = inside.add(carried[1], "relay.add", [result, changed])
        step = Body([], inside.lets, result, carried[1])
        made = scope.add(carried[1], "if", [more], blocks=[step, Body([], [], carried[0], carried[1])])
        return Body(parameters, scope.lets, made, carried[1])

    def block(
        self, known: list[tuple[str, Type]], parameters: list[tuple[str, Type]], type_: Type, most: int = 3
    ) -> Body:
        scope = _Scope(self.maker, known, self.depth + 1)
        scope.statements(self.maker.random.randint(0, most))
        return Body(parameters, scope.lets, scope.some(type_), type_)

    def statements(self, count: int) -> None:
        for _ in range(count):
            self.maker.left -= 1
            kinds = SIMPLE if self.depth > 2 or self.maker.left < 0 else SIMPLE + NESTED
            getattr(self, f"do_{self.maker.random.choice(kinds)}")()

    # -- kinds of statements ---------------------------------------------------------------------------------------

    def do_unary(self) -> None:
        type_ = self.maker.random.choice((F, V))
        self.add(type_, self.maker.random.choice(list(UNARY)), [self.some(type_)])

    def do_binary(self) -> None:
        first, second = self.maker.random.choice(((F, F), (V, V), (V, F)))
        kind = self.maker.random.choice(list(BINARY))
        self.add(first, kind, [self.some(first), self.some(second)])

    def do_max(self) -> None:
        self.add(F, "relay.max", [self.some(V)])

    def do_tuple(self) -> None:
        made = self.make(("tuple", tuple(self.maker.random.choices((F, V, ("list", F)), k=2))))
        self.known.append((made, dict(self.known)[made]))

    def do_item(self) -> None:
        tuples = [(n, t) for n, t in self.known if t[0] == "tuple"]
        if not tuples:
            return self.do_tuple()
        name, type_ = self.maker.random.choice(tuples)
        place = self.maker.random.randrange(len(type_[1]))
        self.add(type_[1][place], "item", [name], detail=place)
        return None

    def do_cons(self) -> None:
        self.add(("list", F), "Cons", [self.some(F), self.some(("list", F))])

    def do_write(self) -> None:
        type_ = self.maker.random.choice((F, V))
        cell = self.some(("ref", type_))
        read = self.add(type_, "ref_read", [cell])
        value = self.add(type_, self.maker.random.choice(list(BINARY)), [read, self.some(type_)])
        self.add(type_, "ref_write", [cell, value])

    def do_read(self) -> None:
        cells = [(n, t) for n, t in self.known if t[0] == "ref"]
        if cells:
            name, type_ = self.maker.random.choice(cells)
            self.add(type_[1], "ref_read", [name])

    def do_call(self) -> None:
        functions = [(n, t) for n, t in self.known if t[0] == "fn" and t[1][:1] != (I,)]
        if functions:
            name, type_ = self.maker.random.choice(functions)
            self.add(type_[2], "call", [name, *(self.some(t) for t in type_[1])])

    def do_global(self) -> None:
        if not self.maker.functions:
            return
        name = self.maker.random.choice(list(self.maker.functions))
        body = self.maker.functions[name]
        types = tuple(t for _, t in body.parameters)
        if self.maker.random.random() < 0.3 and types[:1] != (I,):
            self.add(("fn", types, body.type), "global", detail=name)
            return
        args = [self.make(I) if t == I else self.some(t) for t in types]
        self.add(body.type, "func.call", args, detail=name)

    def do_if(self) -> None:
        type_ = self.maker.random.choice((*DATA, ("fn", (F,), F)))
        blocks = [self.block(self.known, [], type_) for _ in range(2)]
        self.add(type_, "if", [self.some(B, 0.8)], blocks=blocks)

    def do_match(self) -> None:
        element: Type = F
        of, type_ = self.some(("list", element), 0.1), self.maker.random.choice(DATA)
        cases: list[tuple[str, str]] = []
        blocks: list[Body] = []
        for shape in self.maker.random.choice((("Nil", "Cons"), ("two", "_"), ("two", "Cons", "Nil"))):
            types = {"Cons": [element, ("list", element)], "two": [element, element, ("list", element)]}.get(shape, [])
            fields: list[tuple[str, Type]] = [(self.maker.name(), t) for t in types]
            bound = [f"%{n}: {type_text(t)}" for n, t in fields]
            if shape == "Cons":
                cases.append((shape, f"Cons({bound[0]}, {bound[1]})"))
            elif shape == "two":
                cases.append((shape, f"Cons({bound[0]}, Cons({bound[1]}, {bound[2]}))"))
            else:
                cases.append((shape, shape))
            blocks.append(self.block([*self.known, *fields], fields, type_))
        self.add(type_, "match", [of], blocks=blocks, detail=cases)

    def do_closure(self) -> None:
        parameters = tuple(self.maker.random.choices((F, V, ("fn", (F,), F)), k=self.maker.random.randint(1, 2)))
        self.closure(("fn", parameters, self.maker.random.choice((F, V, ("fn", (F,), F)))))

    def do_loop(self) -> None:
        carried = self.maker.random.choice(DATA)
        loop = self.closure(("fn", (I, carried), carried), recursive=True)
        self.add(carried, "call", [loop, self.make(I), self.some(carried)])


SIMPLE = (
    "unary",
    "unary",
    "binary",
    "binary",
    "max",
    "tuple",
    "item",
    "cons",
    "write",
    "read",
    "call",
    "global",
    "global",
)
NESTED = ("if", "if", "match", "match", "closure", "closure", "loop")


class _Maker:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.values = np.random.default_rng(seed)
        self.functions: dict[str, Body] = {}
        self.left = MOST_STATEMENTS
        self._names = 0

    def name(self) -> str:
        self._names += 1
        return f"v{self._names}"

    def program(self) -> Program:
        for n in range(self.random.randint(0, 3)):
            make = self.random.choice((self._plain, self._loop, self._fold))
            body = make(f"g{n}")
            self.functions[f"g{n}"] = body
        parameters: list[tuple[str, Type]] = [(self.name(), t) for t in (F, V, ("list", F), B)]
        scope = _Scope(self, parameters, 0)
        self.left = MOST_STATEMENTS
        for type_ in (F, V):
            scope.make(("ref", type_))
        scope.statements(self.random.randint(4, 10))
        shown: list[str] = []
        for name, type_ in sorted(scope.known, key=lambda known: known[1][0] == "ref"):
            if type_[0] == "ref":
                shown.append(scope.add(type_[1], "ref_read", [name]))
            elif type_[0] == "fn":
                if type_[1][:1] != (I,) and type_[2][0] != "fn":
                    shown.append(scope.add(type_[2], "call", [name, *(scope.some(t) for t in type_[1])]))
            elif type_ != B:
                shown.append(name)
        shown = shown[-8:]
        types = dict(scope.known)
        result = scope.add(("tuple", tuple(types[n] for n in shown)), "tuple", shown)
        body = Body(parameters, scope.lets, result, dict(scope.known)[result])
        return Program({**self.functions, "main": body}, parameters)

    def _plain(self, name: str) -> Body:
        parameters = [(self.name(), self.random.choice(DATA)) for _ in range(self.random.randint(1, 3))]
        return _Scope(self, [], 0).block(parameters, parameters, self.random.choice(DATA), 5)

    def _loop(self, name: str) -> Body:
        carried = self.random.choice(DATA)
        parameters: list[tuple[str, Type]] = [(self.name(), I), (self.name(), carried)]
        return _Scope(self, [], 0).counting(
            parameters, parameters, lambda s, args: s.add(carried, "func.call", args, detail=name), [], F
        )

    def _fold(self, name: str) -> Body:
        """Over a list, from its head on or, where the result is added to, from its end."""
        carried = self.random.choice((F, V))
        parameters: list[tuple[str, Type]] = [(self.name(), ("list", F)), (self.name(), carried)]
        head, tail = self.name(), self.name()
        fields: list[tuple[str, Type]] = [(head, F), (tail, ("list", F))]
        inside = _Scope(self, [*parameters, *fields], 1)
        inside.statements(2)
        changed = inside.add(carried, "relay.add", [inside.some(carried), head])
        result = inside.add(carried, "func.call", [tail, changed], detail=name)
        if self.random.random() < 0.5:
            result = inside.add(carried, "relay.maximum", [result, head])
        cases = [("Cons", f"Cons(%{head}: {F}, %{tail}: {type_text(('list', F))})"), ("Nil", "Nil")]
        blocks = [Body(fields, inside.lets, result, carried), Body([], [], parameters[1][0], carried)]
        scope = _Scope(self, parameters, 0)
        made = scope.add(carried, "match", [parameters[0][0]], blocks=blocks, detail=cases)
        return Body(parameters, scope.lets, made, carried)


def random_program(seed: int) -> Program:
    """A program whose @main takes a scalar, a vector, a list of scalars and a choice."""
    return _Maker(seed).program()


def random_arguments(seed: int) -> list[Any]:
    """Arguments of @main: lists as Python makes them here, pairs that end in ()."""
    values = np.random.default_rng([seed, 1])
    made: Any = ()
    for v in values.uniform(-2, 2, values.integers(0, 4)).astype(np.float32):
        made = (np.asarray(v), made)
    vector = values.uniform(-2, 2, 3).astype(np.float32)
    return [np.asarray(values.uniform(-2, 2), np.float32), vector, made, np.asarray(bool(values.integers(2)))]
