"""Graphs as torch prints them: `graph_module.print_readable()`, or an exported program.

    def forward(self, x: "f32[2, 3]", w: "f32[4, 3]"):
        # File: model.py:42 in forward, code: return self.linear(x)
        linear: "f32[2, 4]" = torch.ops.aten.linear.default(x, w)
        return (linear,)

The text is Python's syntax, which is read and never run.
"""

from __future__ import annotations

import ast
import re
import textwrap
from dataclasses import replace
from typing import Any

from lamina.dialects.infos import TensorInfo
from lamina.errors import InputError, UnsupportedError
from lamina.frontends.aten.graph import AtenCall, AtenGraph, DType, Input, Other, Output, Ref, SourcePlace

_SHORT = {
    "f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64", "i8": "int8", "i16": "int16",
    "i32": "int32", "i64": "int64", "u8": "uint8", "u16": "uint16", "u32": "uint32", "u64": "uint64", "b8": "bool",
}  # fmt: skip
_TYPE = re.compile(r"^([a-z]+\d+)\[([^\]]*)\]")
_FILE = re.compile(r"# File: (.+?):(\d+) in ")
_WORDS = {"inf": float("inf"), "nan": float("nan"), "True": True, "False": False, "None": None}
LARGEST = 64 << 20
"""Characters of a text."""


def read_graph(text: str, label: str) -> AtenGraph:
    """Read a graph. Raises LaminaError with the line."""
    return _Reader(text, label).graph()


class _Reader:
    def __init__(self, text: str, label: str) -> None:
        self.label = label
        if len(text) > LARGEST:
            raise InputError(f"the text has more than {LARGEST} characters", where=label)
        # Behind the code an exported program prints its signature.
        body = re.split(r"^\s*Graph signature:", text, maxsplit=1, flags=re.M)[0]
        start = re.search(r"^[ \t]*(class|def) ", body, re.M)
        self.first = body[: start.start()].count("\n") if start else 0
        # Lines that begin with // are comments of tests.
        code = re.sub(r"^//.*", "", textwrap.dedent(body[start.start() :] if start else body), flags=re.M)
        self.places = self._places(code)
        try:
            self.tree = ast.parse(code)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as e:
            line = (getattr(e, "lineno", None) or 1) + self.first
            raise InputError(f"is no graph: {getattr(e, 'msg', e)}", where=f"{label}:{line}") from None

    def _places(self, code: str) -> list[SourcePlace]:
        """The place that holds for each line: the last comment before it."""
        found: list[SourcePlace] = []
        now = SourcePlace()
        for line in code.split("\n"):
            comment = _FILE.search(line)
            if comment:
                now = SourcePlace("", comment[1].rsplit("/", 1)[-1], int(comment[2]))
            found.append(now)
        return found

    def fail(self, what: str, node: Any) -> InputError:
        """The error of a part of the text."""
        return InputError(what, where=f"{self.label}:{getattr(node, 'lineno', 1) + self.first}")

    def graph(self) -> AtenGraph:
        """The graph of the function `forward`, or of the only one."""
        functions = [n for n in ast.walk(self.tree) if isinstance(n, ast.FunctionDef)]
        chosen = next((f for f in functions if f.name == "forward"), functions[0] if functions else None)
        if chosen is None:
            raise InputError("has no function `forward`", where=self.label)
        around = [n for n in ast.walk(self.tree) if isinstance(n, ast.ClassDef) and chosen in n.body]
        return self._graph(chosen, self._modules(around[0] if around else self.tree), "output_")

    def _modules(self, scope: ast.Module | ast.ClassDef) -> dict[str, ast.ClassDef]:
        """The modules in a module, or in the text."""
        return {n.name: n for n in scope.body if isinstance(n, ast.ClassDef)}

    def _graph(self, function: ast.FunctionDef, modules: dict[str, ast.ClassDef], prefix: str) -> AtenGraph:
        """The graph of a function, whose graphs in it are those of modules."""
        inputs = [self._input(a) for a in function.args.args if a.arg != "self"]
        bodies: dict[str, AtenGraph] = {}
        calls: list[AtenCall] = []
        outputs: list[Output] | None = None
        for statement in function.body:
            if isinstance(statement, ast.Return):
                outputs = self._outputs(statement, prefix)
                break
            named = self._module(statement, modules)
            if named is not None:
                bodies[named[0]] = named[1]
                continue
            call = self._statement(statement)
            if call is not None:
                args = [bodies.get(a.name, a) if isinstance(a, Ref) else a for a in call.args]
                calls.append(replace(call, args=tuple(args)) if bodies else call)
        if outputs is None:
            raise self.fail("the function returns nothing", function)
        return AtenGraph(self.label, inputs, calls, outputs)

    def _module(self, statement: ast.stmt, modules: dict[str, ast.ClassDef]) -> tuple[str, AtenGraph] | None:
        """The name and the graph of what takes a module: `body_0 = self.body_0`."""
        if not (isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name)):
            return None
        value = statement.value
        if not (isinstance(value, ast.Attribute) and isinstance(value.value, ast.Name) and value.value.id == "self"):
            return None
        module = modules.get(value.attr)
        forward = next((n for n in module.body if isinstance(n, ast.FunctionDef)), None) if module else None
        if module is None or forward is None:
            raise self.fail(f"there is no module {value.attr} with a function", statement)
        return statement.targets[0].id, self._graph(forward, self._modules(module), "")

    def _info(self, annotation: Any) -> TensorInfo | None:
        if not isinstance(annotation, ast.Constant) or not isinstance(annotation.value, str):
            return None
        found = _TYPE.match(annotation.value)
        if found is None:
            return None
        if found[1] not in _SHORT:
            raise UnsupportedError(
                f"tensors of {found[1]} are not supported", where=f"{self.label}:{annotation.lineno}"
            )
        extents = [e.strip() for e in found[2].split(",") if e.strip()]
        if not all(e.isdigit() for e in extents):
            where = f"{self.label}:{annotation.lineno + self.first}"
            raise UnsupportedError(f"the extents [{found[2]}] are open", where=where, hint="export with fixed shapes")
        return TensorInfo(tuple(map(int, extents)), _SHORT[found[1]])

    def _input(self, argument: ast.arg) -> Input:
        info = self._info(argument.annotation)
        if info is None:
            raise self.fail(f'the input {argument.arg} has no type, such as "f32[2, 3]"', argument)
        return Input(argument.arg, info.shape, info.dtype)

    def _statement(self, statement: ast.stmt) -> AtenCall | None:
        """A call, None for what only lets a name go: `x = y = None`."""
        annotation: Any = None
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name) and statement.value:
            name, value, annotation = statement.target.id, statement.value, statement.annotation
        elif isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            name, value = statement.targets[0].id, statement.value
        elif isinstance(statement, (ast.Pass, ast.Expr)):
            return None
        else:
            raise self.fail("is neither a call of an operator nor a return", statement)
        if isinstance(value, ast.Constant) and value.value is None:
            return None
        place = self.places[statement.lineno - 1]
        if isinstance(value, ast.Subscript):
            args = (self._value(value.value), self._value(value.slice))
            return AtenCall(name, "getitem", args, {}, place, self._info(annotation))
        if not isinstance(value, ast.Call):
            raise self.fail("is no call of an operator", statement)
        target = ast.unparse(value.func).removeprefix("torch.ops.")
        args = tuple(self._value(a) for a in value.args)
        kwargs = {k.arg: self._value(k.value) for k in value.keywords if k.arg is not None}
        return AtenCall(name, target, args, kwargs, place, self._info(annotation))

    def _outputs(self, statement: ast.Return, prefix: str) -> list[Output]:
        value = statement.value
        values = list(value.elts) if isinstance(value, (ast.Tuple, ast.List)) else [value]
        return [Output(f"{prefix}{k}", self._value(v)) for k, v in enumerate(values)]

    def _value(self, node: Any) -> Any:
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Name):
            return _WORDS[node.id] if node.id in _WORDS else Ref(node.id)
        if isinstance(node, (ast.List, ast.Tuple)):
            return [self._value(e) for e in node.elts]
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            value = self._value(node.operand)
            if isinstance(value, (int, float)):
                return -value
        if isinstance(node, ast.Attribute):
            word = ast.unparse(node)
            name = word.removeprefix("torch.")
            return DType(name) if name in _SHORT.values() else Other(word)
        if isinstance(node, ast.Call):
            return Other(ast.unparse(node))
        raise self.fail(f"{ast.unparse(node)} is no argument", node)
