"""Relay's own text format, read: definitions and expressions, with their constants from the metadata.

    def @main(%x: Tensor[(1, 3), float32]) -> Tensor[(1, 3), float32] {
      %0 = nn.relu(%x);
      add(%0, 1f)
    }

Errors name the place: `file:line:col`. Each node knows it, so that an operator that refuses its operands does too.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NoReturn, cast

import numpy as np
from xdsl.dialects.builtin import FileLineColLoc, IntAttr, StringAttr

from lamina.dialects.dtypes import DTYPES, numpy_dtype
from lamina.errors import LaminaError, UsageError
from lamina.frontends.tvm_text import adt, data_types, ty
from lamina.frontends.tvm_text import expr as e
from lamina.frontends.tvm_text.array_bytes import load_array
from lamina.frontends.tvm_text.lexer import Source, Token, words

_INFIX = ({"==": "equal", "!=": "not_equal", "<": "less", "<=": "less_equal", ">": "greater", ">=": "greater_equal"},
          {"+": "add", "-": "subtract"}, {"*": "multiply", "/": "divide"})  # fmt: skip
"""Operators between expressions, the loosest first."""
_DEPTH = 100
_WORDS = {"True": True, "False": False, "None": None, "inf": float("inf"), "nan": float("nan")}
_SUFFIXES = {"f": "float32", "f32": "float32", "f16": "float16", "f64": "float64", "": "int32", "bf16": "bfloat16"}


class Parser:
    """Reads one text."""

    def __init__(
        self, source: Source, functions: Iterable[e.GlobalVar] = (), types: Iterable[adt.TypeData] = ()
    ) -> None:
        """`functions` and `types` are known already: the text may name them."""
        self.source = source
        self.words, metadata = words(source)
        self.place = 0
        self.depth = 0
        self.globals: dict[str, e.GlobalVar] = {}
        self.scopes: list[dict[str, e.Expr]] = [{}]
        self.types: dict[ty.GlobalTypeVar, adt.TypeData] = {}
        self.type_places: dict[str, Token] = {}
        self.type_vars: list[set[str]] = []
        """The type parameters of what is read, the innermost last."""
        self.constructors: dict[str, adt.Constructor] = {}
        self.globals.update((g.name_hint, g) for g in functions)
        for data in types:
            self.constructors.update((c.name_hint, c) for c in data.constructors)
        self.constants = _metadata(metadata, source) if metadata.strip() else []

    # -- words ------------------------------------------------------------------------------------------

    @property
    def word(self) -> Token:
        return self.words[self.place]

    def ahead(self, count: int = 1) -> Token:
        return self.words[min(self.place + count, len(self.words) - 1)]

    def take(self) -> Token:
        found = self.word
        self.place = min(self.place + 1, len(self.words) - 1)
        return found

    def at(self, *texts: str) -> bool:
        return self.word.kind in ("punct", "name") and self.word.text in texts

    def skip(self, text: str) -> bool:
        if self.at(text):
            self.take()
            return True
        return False

    def expect(self, text: str) -> Token:
        if not self.at(text):
            self.fail(f"expected {text!r}, got {self.word.text!r}")
        return self.take()

    def error(self, token: Token, what: str, hint: str = "") -> LaminaError:
        return self.source.error(what, token.line, token.column, hint)

    def fail(self, what: str, token: Token | None = None, hint: str = "") -> NoReturn:
        raise self.error(token or self.word, what, hint)

    def listed(self, end: str, read: Callable[[], Any]) -> list[Any]:
        """Things between commas up to a bracket, which is taken."""
        found: list[Any] = []
        while not self.skip(end):
            found.append(read())
            if not self.skip(","):
                self.expect(end)
                break
        return found

    def located(self, node: Any, token: Token) -> Any:
        if not isinstance(node, (e.Op, e.GlobalVar, adt.Constructor)) and "span" not in node.__dict__:
            node.span = FileLineColLoc(StringAttr(self.source.name), IntAttr(token.line), IntAttr(token.column))
        return node

    # -- modules ----------------------------------------------------------------------------------------

    def program(self) -> tuple[dict[e.GlobalVar, e.Function], e.Expr | None]:
        """The definitions of a text, and the expression that stands there instead."""
        if self.skip("#["):
            while not self.skip("]"):
                if self.word.kind == "end":
                    self.fail("expected ']'")
                self.take()
        found: dict[e.GlobalVar, e.Function] = {}
        data_types.read_types(self)
        while self.at("def", "type", "extern"):
            if not self.at("def"):
                data_types.definition(self, self.word)
                continue
            self.take()
            if self.word.kind != "global":
                self.fail(f"expected the name of a function, as @main, got {self.word.text!r}")
            token = self.take()
            name = self.global_var(token.text[1:])
            if name in found:
                self.fail(f"@{name.name_hint} is defined twice", token)
            found[name] = self.function(token)
        if self.at("import"):
            self.fail("'import' is not bridged", hint="mod.import_from_std(...) before, and init_module=mod")
        if self.word.kind == "end":
            return found, None
        body = self.block_of(())
        if self.word.kind != "end":
            self.fail(f"{self.word.text!r} stands behind the end")
        return found, body

    def module(self) -> tuple[dict[e.GlobalVar, e.Function], e.Expr | None]:
        """The definitions of a module, or the expression that its @main computes."""
        definitions, body = self.program()
        if body is not None and definitions:
            raise self.error(self.words[0], "an expression stands beside definitions")
        return definitions, body

    def global_var(self, name: str) -> e.GlobalVar:
        return self.globals.setdefault(name, e.GlobalVar(name))

    def function(self, token: Token) -> e.Function:
        """`(%x: T, key=value) -> T { ... }`."""
        type_params = data_types.type_parameters(self)
        self.type_vars.append({p.name_hint for p in type_params})
        self.expect("(")
        params: list[e.Var] = []
        attrs: dict[str, Any] = {}
        scope: dict[str, e.Expr] = {}

        def parameter() -> None:
            if self.word.kind == "local":
                word = self.take()
                variable = e.Var(word.text[1:], self.type() if self.skip(":") else None)
                if word.text in scope:
                    self.fail(f"two parameters are called {word.text}", word)
                if self.skip("="):  # a virtual device, which there is one of
                    self.attribute()
                scope[word.text] = self.located(variable, word)
                params.append(variable)
                return
            if self.word.kind not in ("name", "string"):
                self.fail(f"expected a parameter, as %x: float32, got {self.word.text!r}")
            word = self.take()
            self.expect("=")
            attrs[word.value if word.kind == "string" else word.text] = self.attribute()

        self.listed(")", parameter)
        result = self.type() if self.skip("->") else None
        body = self.block(scope)
        attrs.pop("virtual_device", None)
        self.type_vars.pop()
        return self.located(e.Function(params, body, result, type_params, attrs), token)

    # -- types ------------------------------------------------------------------------------------------

    def type(self) -> ty.Type:
        token = self.word
        if self.skip("("):
            fields: list[ty.Type] = []
            while not self.skip(")"):
                fields.append(self.type())
                if not self.skip(","):
                    self.expect(")")
                    return ty.TupleType(fields) if len(fields) != 1 else fields[0]
            return ty.TupleType(fields)
        if self.skip("fn"):
            params = data_types.type_parameters(self)
            self.type_vars.append({p.name_hint for p in params})
            self.expect("(")
            args = self.listed(")", self.type)
            self.expect("->")
            found = ty.FuncType(args, self.type(), params)
            self.type_vars.pop()
            return found
        if token.kind != "name":
            self.fail(f"expected a type, got {token.text!r}", hint="as in Tensor[(1, 3), float32]")
        self.take()
        if token.text == "_":
            return ty.IncompleteType()
        if token.text == "Tensor":
            self.expect("[")
            self.expect("(")
            dims = self.listed(")", self.extent)
            self.expect(",")
            found = ty.TensorType(dims, self.dtype())
            self.expect("]")
            return found
        if token.text == "ref":
            self.expect("(")
            inner = self.type()
            self.expect(")")
            return ty.RefType(inner)
        if token.text in DTYPES:
            return ty.TensorType((), token.text)
        if any(token.text in names for names in self.type_vars):
            return ty.TypeVar(token.text)
        args = self.listed("]", self.type) if self.skip("[") else []
        return ty.TypeCall(ty.GlobalTypeVar(token.text), args)

    def extent(self) -> Any:
        token = self.take()
        if token.text == "?":
            return ty.Any()
        if token.kind == "number" and token.text.isdigit():
            return int(token.text)
        if token.kind == "name":
            return token.text
        return self.fail(f"{token.text!r} is no extent", token)

    def dtype(self) -> str:
        token = self.take()
        if token.kind != "name" or token.text not in DTYPES:
            self.fail(f"{token.text!r} is no dtype", token, f"there are {', '.join(DTYPES)}")
        return token.text

    # -- expressions --------------------------------------------------------------------------------------

    def block(self, scope: Mapping[str, e.Expr] | None = None) -> Any:
        """`{ ... }`."""
        self.expect("{")
        body = self.block_of(scope or {})
        self.expect("}")
        return body

    def block_of(self, scope: Any) -> Any:
        """Lets, numbered values and, last, what they lead to."""
        self.scopes.append(dict(scope))
        lets: list[tuple[e.Var, e.Expr, Token]] = []
        while True:
            token = self.word
            if self.skip("let"):
                if self.word.kind != "local":
                    self.fail(f"expected a variable, got {self.word.text!r}")
                name = self.take()
                variable = e.Var(name.text[1:], self.type() if self.skip(":") else None)
                self.expect("=")
                if self.at("fn"):
                    self.scopes[-1][name.text] = variable
                value = self.expression()
                self.scopes[-1][name.text] = variable
                lets.append((variable, value, token))
                self.expect(";")
            elif self.skip("free_var"):
                name = self.take()
                self.scopes[-1][name.text] = self.located(
                    e.Var(name.text[1:], self.type() if self.skip(":") else None), name
                )
                self.expect(";")
            elif token.kind == "graph" and self.ahead().text == "=":
                self.take()
                self.take()
                if token.text in self.scopes[-1]:
                    self.fail(f"{token.text} has a value already", token)
                self.scopes[-1][token.text] = self.expression()
                self.expect(";")
            else:
                body = self.expression()
                if not self.skip(";"):
                    break
                lets.append((e.Var("_"), body, token))
        for variable, value, token in reversed(lets):
            body = self.located(e.Let(variable, value, body), token)
        self.scopes.pop()
        return body

    def expression(self, level: int = 0) -> Any:
        """Operators between operands."""
        if level == len(_INFIX):
            self.depth += 1
            if self.depth > _DEPTH:
                self.fail(
                    f"more than {_DEPTH} expressions inside one another", hint="give inner ones numbers: %0 = ...;"
                )
            found = self.postfix()
            self.depth -= 1
            return found
        left = self.expression(level + 1)
        while self.word.kind == "punct" and self.word.text in _INFIX[level]:
            token = self.take()
            right = self.expression(level + 1)
            left = self.located(e.make_call(_INFIX[level][token.text], [left, right]), token)
        return left

    def postfix(self) -> Any:
        token = self.word
        found = self.primary()
        while True:
            if self.at("(") and isinstance(found, e.Expr):
                self.take()
                found = self.call(found, token)
            elif self.at("."):
                self.take()
                number = self.take()
                if number.kind != "number" or not number.text.isdigit():
                    self.fail(f"expected the number of a field, got {number.text!r}", number)
                found = self.located(e.TupleGetItem(found, int(number.text)), token)
            else:
                break
        if isinstance(found, adt.Constructor) and not found.inputs:
            return self.located(e.Call(found, []), token)
        if isinstance(found, e.Op):
            self.fail(f"the operator {found.name} stands without operands", token)
        return found

    def call(self, callee: e.Expr, token: Token) -> Any:
        args: list[e.Expr] = []
        attrs: dict[str, Any] = {}

        def argument() -> None:
            if self.word.kind in ("name", "string") and self.ahead().text == "=":
                key = self.take()
                self.take()
                attrs[key.value if key.kind == "string" else key.text] = self.attribute()
            else:
                args.append(self.expression())

        self.listed(")", argument)
        attrs.pop("attrs_type_key", None)
        return self.located(e.Call(callee, args, attrs), token)

    def primary(self) -> Any:
        token = self.take()
        if token.kind == "number" or (token.text == "-" and self.word.kind == "number"):
            negative = token.kind != "number"
            return self.located(self.number(self.take() if negative else token, negative), token)
        if token.kind in ("local", "graph"):
            for scope in reversed(self.scopes):
                if token.text in scope:
                    return scope[token.text]
            self.fail(f"there is no {token.text} here", token)
        if token.kind == "global":
            return self.global_var(token.text[1:])
        if token.text == "(":
            fields: list[e.Expr] = []
            while not self.skip(")"):
                fields.append(self.expression())
                if not self.skip(","):
                    self.expect(")")
                    return self.located(e.Tuple(fields), token) if len(fields) != 1 else fields[0]
            return self.located(e.Tuple(fields), token)
        if token.text == "{":
            body = self.block_of({})
            self.expect("}")
            return body
        if token.kind == "name":
            return self.named(token)
        self.fail(f"expected an expression, got {token.text!r}", token)

    def named(self, token: Token) -> Any:
        name = token.text
        if name in ("True", "False"):
            return self.located(e.const(name == "True", "bool"), token)
        if name == "fn":
            return self.function(token)
        if name == "if":
            self.expect("(")
            condition = self.expression()
            self.expect(")")
            then = self.block()
            self.expect("else")
            return self.located(e.If(condition, then, self.block()), token)
        if name == "meta":
            return self.meta(token)
        if name in ("ref", "ref_read", "ref_write"):
            self.expect("(")
            args = self.listed(")", self.expression)
            wanted = 2 if name == "ref_write" else 1
            if len(args) != wanted:
                self.fail(f"{name} takes {wanted} operands, got {len(args)}", token)
            kind: Any = {"ref": e.RefCreate, "ref_read": e.RefRead, "ref_write": e.RefWrite}[name]
            return self.located(kind(*args), token)
        if name == "match":
            return data_types.match(self, token)
        if name in self.constructors:
            return self.constructors[name]
        try:
            return e.get_op(name)
        except UsageError as error:
            raise self.error(token, error.what, error.hint) from None

    def number(self, token: Token, negative: bool) -> e.Constant:
        digits, suffix = token.value
        dtype = _SUFFIXES.get(suffix) or f"{'int' if suffix[0] == 'i' else 'uint'}{suffix[1:]}"
        if suffix == "" and ("." in digits or "e" in digits or "E" in digits):
            dtype = "float64"
        text = f"-{digits}" if negative else digits
        if "int" not in dtype:
            return e.Constant(
                np.array(text, "float64").astype(numpy_dtype(dtype))
                if dtype == "bfloat16"
                else np.array(text).astype(numpy_dtype(dtype))
            )
        info = np.iinfo(dtype)
        if not text.lstrip("-").isdigit() or not info.min <= int(text) <= info.max:
            self.fail(f"{text} is no {dtype}", token)
        return e.Constant(np.array(int(text), dtype))

    def meta(self, token: Token) -> Any:
        self.expect("[")
        kind = self.take()
        self.expect("]")
        self.expect("[")
        number = self.take()
        self.expect("]")
        if kind.text != "relay.Constant":
            return None
        if not number.text.isdigit() or int(number.text) >= len(self.constants):
            self.fail(
                f"there is no constant {number.text} in the metadata, which has {len(self.constants)}", token,
                "print with astext(show_meta_data=True)",
            )  # fmt: skip
        return self.located(e.Constant(self.constants[int(number.text)]), token)

    def attribute(self) -> Any:
        """The value of an attribute."""
        token = self.take()
        if token.text == "-" and self.word.kind == "number":
            return -self.plain_number(self.take())
        if token.text == "-" and self.at("inf"):
            self.take()
            return float("-inf")
        if token.kind == "number":
            return self.plain_number(token)
        if token.kind == "string":
            return token.value
        if token.kind == "name":
            if token.text == "meta":
                return self.meta(token)
            return _WORDS.get(token.text, token.text)
        if token.text == "[" or token.text == "(":
            return tuple(self.listed("]" if token.text == "[" else ")", self.attribute))
        if token.text == "{":

            def entry() -> tuple[Any, Any]:
                key = self.attribute()
                self.expect("=" if self.at("=") else ":")
                return key, self.attribute()

            return dict(cast("list[tuple[Any, Any]]", self.listed("}", entry)))
        return self.fail(f"{token.text!r} is no value of an attribute", token)

    def plain_number(self, token: Token) -> Any:
        digits, suffix = token.value
        is_int = digits.isdigit() and suffix[:1] not in ("f", "b")
        return int(digits) if is_int else float(digits)


def _metadata(text: str, source: Source) -> list[Any]:
    """The constants of the metadata: ours, or TVM's own JSON."""
    line = source.text.count("\n", 0, len(source.text) - len(text)) + 1
    try:
        data: Any = json.loads(text)
        if "relay.Constant" in data:
            return [
                np.frombuffer(base64.b64decode(c["b64"]), numpy_dtype(c["dtype"])).reshape(c["shape"])
                for c in data["relay.Constant"]
            ]
        nodes = data["nodes"]
        root = nodes[data["root"]]
        arrays = [load_array(base64.b64decode(a)) for a in data.get("b64ndarrays", ())]
        if "relay.Constant" not in root.get("keys", ()):
            return []
        listed = nodes[root["data"][root["keys"].index("relay.Constant")]]
        return [arrays[int(nodes[n]["attrs"]["data"])] for n in listed["data"]]
    except (ValueError, KeyError, IndexError, TypeError) as error:
        raise source.error(f"the metadata is damaged: {error}", line, 1) from None
