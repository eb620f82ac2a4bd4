"""Scripts as graphs of ATen calls: their code is followed for given shapes, statement by statement.

Numbers, lists and conditions are computed on the way, so that branches and loops over them are gone; what a condition
on a tensor's values decides is refused. The code is Python's syntax, which is read and never run.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from lamina.dialects.infos import TensorInfo
from lamina.errors import InputError, UnsupportedError, UsageError
from lamina.frontends.aten.builder import OwnConverter
from lamina.frontends.aten.functional import next_name
from lamina.frontends.aten.graph import AtenCall, AtenGraph, Input, Output, Ref, SourcePlace, refs
from lamina.frontends.aten.importer import ShapeTracer, import_graph
from lamina.frontends.aten.overloads import resolved
from lamina.frontends.aten.quantization import PackedCell, PackedWeights, QuantizedArray
from lamina.frontends.aten.quantized import QuantizedValue
from lamina.frontends.builder import LIMIT, Value
from lamina.frontends.formats import Shapes
from lamina.frontends.torchscript.numbers import DTYPES, NUMBERS, computed
from lamina.frontends.torchscript.objects import NamedItems, ScriptObject, named_fields
from lamina.frontends.torchscript.packed import OF_QUANTIZED, PACKS, TORCH_CLASSES, asked_of_quantized, packed, restored
from lamina.frontends.torchscript.program import Script, guarded
from lamina.frontends.torchscript.statements import DEEPEST, StatementFollower
from lamina.frontends.torchscript.states import Followed, Kept, followed_call, graph_of_later_calls

NOTHING: dict[str, Any] = {
    "prim.is_nested": False, "prim.device": None, "prim.is_cuda": False, "prim.requires_grad": False,
    "prim.is_quantized": False, "prim.is_sparse": False, "is_grad_enabled": False, "is_complex": False,
    "is_autocast_enabled": False, "set_grad_enabled": None,
}  # fmt: skip
"""Questions with one answer for every tensor here."""
ASKED = frozenset(
    (
        *("size", "dim", "numel", "len", "prim.NumToTensor", "item", "Int", "Float", "Bool", "ScalarImplicit"),
        *("IntImplicit", "prim.dtype", "is_floating_point", *NOTHING, *OF_QUANTIZED),
    )
)
"""Operators that ask for what is known of a tensor."""
ELSEWHERE = ("to", "cuda")
"""Operators that give a quantised tensor in another memory: they cannot change its type."""
RAISE = "prim.RaiseException"
OF_NUMBERS = frozenset(
    "add sub rsub mul multiply div divide true_divide floor_divide remainder fmod pow float_power eq ne lt le gt ge"
    " bitwise_and bitwise_or bitwise_xor __and__ __or__ __xor__ where masked_fill xlogy copysign lerp".split()
)
"""Operators that take numbers as well as tensors: of a constant of the file without axes torch takes its number."""
THE_SAME = ("cpu", "prim.data")
"""Operators that give their operand."""
IDENTITY = ("__is__", "__isnot__")
LISTS = frozenset(
    "append insert extend add_ __getitem__ len list copy add mul slice _set_item Delete pop clear reverse dict get"
    " update setdefault keys values items __contains__".split()
)
"""Operators of lists and dictionaries, which may hold tensors."""
_COMPARES: dict[type, str] = {
    ast.Eq: "eq", ast.NotEq: "ne", ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge", ast.Is: "__is__",
    ast.IsNot: "__isnot__", ast.In: "__contains__",
}  # fmt: skip
_ARITHMETIC: dict[type, str] = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.FloorDiv: "floordiv", ast.Div: "div", ast.Mod: "remainder",
    ast.Pow: "pow",
}  # fmt: skip


def traced_graph(
    source: Any, shapes: Shapes, limit: int = LIMIT, inputs: Sequence[Input] = (),
    own: Mapping[str, OwnConverter] | None = None,
) -> AtenGraph:  # fmt: skip
    """The graph of a script's `forward` for shapes of its inputs: by their names, or `inputs` for them in order.

    `own` are converters that go before the table's. Raises LaminaError.
    """

    def follow(kept: Kept) -> Followed:
        script = Script.of(source, limit)
        return guarded(script.archive.label, lambda: _Tracer(script, shapes, inputs, own, kept).followed())

    return graph_of_later_calls(follow, lambda graph: import_graph(graph, limit, own=own).module)


def operator_of(function: Any) -> str:
    """The operator of a callee `torch.add`, `ops.quantized.linear`; else empty."""
    text = ast.unparse(function)
    for prefix in ("torch.", "ops."):
        if text.startswith(prefix) and text.count(".") in (1, 2):
            return text.removeprefix(prefix)
    return ""


class _Tracer(StatementFollower):
    """Follows the code of a script and notes the calls that it makes."""

    def __init__(
        self, script: Script, shapes: Shapes, inputs: Sequence[Input] = (),
        own: Mapping[str, OwnConverter] | None = None, kept: Kept | None = None,
    ) -> None:  # fmt: skip
        super().__init__(script.archive.label)
        self.script = script
        self.kept = dict(kept or {})
        self.owners: dict[str, tuple[ScriptObject, str]] = {}
        """The objects and attributes that are assigned, by their paths."""
        self.begins: dict[str, Any] = {}
        """The arrays that they had before."""
        self.given = list(inputs)
        self.shapes = shapes
        self.inputs: list[Input] = []
        self.calls: list[AtenCall] = []
        self.tracer = ShapeTracer(self.label, script.limit, own)
        self.weights: dict[int, Ref] = {}
        self.numbers: dict[Ref, Any] = {}
        """The numbers of constants without axes."""
        self.names: dict[int, str] = {}
        self.path: list[str] = []
        self.building: list[ScriptObject] = []
        """The objects whose `__setstate__` is being followed, the innermost last."""
        self.settled: dict[int, Any] = {}
        script.root, script.constants = self._settled(script.root), self._settled(script.constants)
        self._name_weights(script.root, "")

    def _settled(self, given: Any) -> Any:
        """An object with the attributes that its class makes of its state, and so all that it holds."""
        if isinstance(given, (list, tuple)):
            return type(given)(self._settled(v) for v in given)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
        if not isinstance(given, ScriptObject):
            return given
        if id(given) not in self.settled:
            self.settled[id(given)] = given
            for name, value in given.attributes.items():
                given.attributes[name] = self._settled(value)
            if given.state is not None:
                self.settled[id(given)] = self._restored(given, self._settled(given.state))
        return self.settled[id(given)]

    def _restored(self, given: ScriptObject, state: Any) -> Any:
        """The object that was written by its state: its class makes it of that, or torch where the class is torch's."""
        if given.type.startswith(TORCH_CLASSES):
            return restored(given.type, state, self.label)
        method = self.script.method(given.type, "__setstate__")
        if method is None:
            raise InputError(f"{given.type} has no method '__setstate__'", where=self.label)
        self.building.append(given)
        self._function(method, [given, state], {})
        self.building.pop()
        return given

    def _name_weights(self, given: Any, path: str) -> None:
        if isinstance(given, PackedCell):
            self._name_weights(given.of_input, f"{path}.ih")
            self._name_weights(given.of_state, f"{path}.hh")
        elif isinstance(given, PackedWeights):
            stem = ".".join(p for p in path.split(".") if p != "_packed_params")
            for name, value in (("weight", given.weight), ("bias", given.bias)):
                self.names.setdefault(id(value), f"{stem}.{name}" if stem else name)
        elif isinstance(given, ScriptObject) and path.count(".") < DEEPEST:
            for name, value in given.attributes.items():
                self._name_weights(value, f"{path}.{name}" if path else name)
        elif hasattr(given, "dtype"):
            self.names.setdefault(id(given), path)
        for k, value in enumerate(_items(given)):
            self._name_weights(value, f"{path}.{k}")

    def followed(self) -> Followed:
        """The graph of `forward`, and what it leaves."""
        method = self.script.method(self.script.root.type, "forward")
        if method is None:
            raise InputError("has no method forward", where=self.label)
        arguments: list[Any] = [self.script.root]
        given = dict(self.shapes)
        formal = method.args.args[1:]
        defaults = len(method.args.defaults)
        examples: list[Any] = [*self.script.examples(), *[None] * len(formal)]
        for k, a in enumerate(formal):
            kind = ast.unparse(a.annotation) if a.annotation is not None else "Tensor"
            if kind != "Tensor":
                if kind == "int" and isinstance(given.get(a.arg), int):
                    arguments.append(given.pop(a.arg))
                    continue
                if k < len(formal) - defaults and not kind.startswith("Optional"):
                    hint = f"give shapes={{{a.arg!r}: NUMBER}} (--shape {a.arg}=NUMBER)" if kind == "int" else ""
                    raise UnsupportedError(f"the input {a.arg!r} is {kind}, no tensor", where=self.label, hint=hint)
                if k < len(formal) - defaults:
                    arguments.append(None)
                    continue
                break
            arguments.append(self._input(a.arg, given.pop(a.arg, None), examples[k]))
        if given:
            names = ", ".join(a.arg for a in formal)
            raise UsageError(f"there is no input {next(iter(given))!r}", where=self.label, hint=f"there are {names}")
        for path, found in self.kept.items():
            owner, _, name = path.rpartition(".")
            value = self._taken(Input(path, found.shape, found.dtype)) if isinstance(found, TensorInfo) else found
            self._keep(self._attribute_at(owner), name, value)
        result = self._function(method, arguments, {})
        outputs = [Output(f"output_{k}", v) for k, v in enumerate(refs(result))]
        left: dict[str, Any] = {}
        for path, (owner, name) in self.owners.items():
            value = owner.attributes[name]
            left[path] = self.tracer.value(value).info if isinstance(value, Ref) else value
            if isinstance(value, Ref):
                if isinstance(self.tracer.value(value), QuantizedValue):
                    raise UnsupportedError(f"the script keeps {path}, which is quantised", where=self.label)
                outputs.append(Output(next_name(path), value))
        graph = AtenGraph(self.label, self.inputs, self.calls, outputs)
        return followed_call(graph, left, self.begins, self._attribute_at)

    def _attribute_at(self, path: str) -> Any:
        """The object or the value of a path; None where it goes through lists."""
        found: Any = self.script.root
        for name in path.split(".") if path else ():
            found = found.attributes.get(name) if isinstance(found, ScriptObject) else None
        return found

    def _set_attribute(self, owner: ScriptObject, name: str, value: Any) -> None:
        if self.building or owner.made:
            owner.attributes[name] = value
        else:
            self._keep(owner, name, value)

    def _keep(self, owner: ScriptObject, name: str, value: Any) -> None:
        """Assign an attribute, which the next call finds."""
        path = ".".join((*self._paths(owner), name))
        plain = isinstance(value, (Ref, bool, int, float, str, type(None)))
        if not plain or self._attribute_at(path.rpartition(".")[0]) is not owner:
            raise UnsupportedError(f"the attribute {path} is assigned {type(value).__name__}", where=self._where())
        if path not in self.owners and hasattr(owner.attributes.get(name), "dtype"):
            self.begins[path] = owner.attributes[name]
        self.owners[path] = owner, name
        owner.attributes[name] = value

    def _input(self, name: str, shape: Any, example: Any) -> Ref:
        """An input of a shape, else of that with which the script was traced, which says its element type."""
        if self.given:
            return self._taken(self.given.pop(0))
        dtype = "float32"
        if hasattr(example, "strides"):  # an array, not a quantised one
            shape, dtype = example.shape if shape is None else shape, str(example.dtype)
        if shape is None or isinstance(shape, int):
            what = f"the input {name!r} has no shape: a script does not state it"
            raise UsageError(what, where=self.label, hint=f"give shapes={{{name!r}: [...]}} (--shape {name}=...)")
        return self._taken(Input(name, tuple(int(e) for e in shape), dtype))

    def _taken(self, given: Input) -> Ref:
        self.inputs.append(given)
        self.tracer.take(given)
        return Ref(given.name)

    def _truth(self, test: Any, names: dict[str, Any]) -> bool:
        value = self._value(test, names)
        if isinstance(value, Ref):
            known = self.tracer.value(value)
            if known.array is None:
                raise UnsupportedError("a condition depends on values of tensors", where=self._where(), hint="trace it")
            return bool(known.array.reshape(-1)[0])
        return bool(value)

    def _where(self) -> str:
        return f"{self.label}: {'.'.join(self.path)}" if self.path else self.label

    # -- expressions ---------------------------------------------------------------------------------

    def _value(self, e: Any, names: dict[str, Any]) -> Any:
        if isinstance(e, ast.Constant):
            return e.value
        if isinstance(e, ast.Name):
            if e.id in names:
                return names[e.id]
            return {"inf": float("inf"), "nan": float("nan"), "CONSTANTS": "CONSTANTS"}[e.id]
        if isinstance(e, ast.Attribute):
            return self._attribute(e, names)
        if isinstance(e, (ast.List, ast.Tuple)):
            items = [self._value(v, names) for v in e.elts]
            return items if isinstance(e, ast.List) else tuple(items)
        if isinstance(e, ast.Dict):
            keys = [self._value(k, names) for k in e.keys]
            return dict(zip(keys, (self._value(v, names) for v in e.values), strict=True))
        if isinstance(e, ast.Subscript):
            return self._subscript(e, names)
        if isinstance(e, ast.UnaryOp):
            value = self._value(e.operand, names)
            return (not self._known(value)) if isinstance(e.op, ast.Not) else self._operated("neg", [value], {})
        if isinstance(e, ast.BoolOp):
            wanted = isinstance(e.op, ast.Or)
            return wanted if any(self._truth(v, names) is wanted for v in e.values) else not wanted
        if isinstance(e, ast.IfExp):
            return self._value(e.body if self._truth(e.test, names) else e.orelse, names)
        if isinstance(e, ast.Compare):
            pair = [self._value(e.left, names), self._value(e.comparators[0], names)]
            return self._operated(_COMPARES[type(e.ops[0])], pair, {})
        if isinstance(e, ast.BinOp):
            kind = _ARITHMETIC[type(e.op)]
            return self._operated(kind, [self._value(e.left, names), self._value(e.right, names)], {})
        if isinstance(e, ast.Call):
            return self._call(e, names)
        raise UnsupportedError(f"{ast.unparse(e)[:80]} is not supported", where=self._where())

    def _known(self, value: Any) -> Any:
        if isinstance(value, Ref):
            raise UnsupportedError("a condition depends on values of tensors", where=self._where())
        return value

    def _attribute(self, e: ast.Attribute, names: dict[str, Any]) -> Any:
        if ast.unparse(e).startswith("CONSTANTS.c"):
            value = self.script.constants[int(e.attr[1:])]
            found = self._weight(value)
            if isinstance(found, Ref) and isinstance(value, np.ndarray) and value.ndim == 0:
                self.numbers[found] = value.item()
            return found
        text = ast.unparse(e)
        if text in ("torch.inf", "math.inf"):
            return float("inf")
        if text.startswith("__torch__."):
            return self.script.definition(text)
        return self._member(self._value(e.value, names), e.attr)

    def _member(self, owner: Any, name: str) -> Any:
        if isinstance(owner, NamedItems):
            return owner.named(name)
        if not isinstance(owner, ScriptObject):
            raise UnsupportedError(f"the attribute {name!r} is not supported", where=self._where())
        if name in owner.attributes:
            return self._weight(owner.attributes[name])
        return self.script.field(owner.type, name)

    def _weight(self, value: Any) -> Any:
        """A tensor of the file as a value of the graph."""
        if isinstance(value, (PackedWeights, PackedCell)):
            return value.mapped(self._weight)
        if any(hasattr(v, "dtype") for v in _items(value)):
            return [self._weight(v) for v in _items(value)]
        if not hasattr(value, "dtype"):
            return value
        found = self.weights.get(id(value))
        if found is None:
            key = self.names.get(id(value), f"constant_{len(self.weights)}")
            found = self.weights[id(value)] = Ref(f"weight:{key}")
            array, quantization = value, None
            if isinstance(value, QuantizedArray):
                array, quantization = value.array, value.quantization
            given = Input(found.name, tuple(array.shape), str(array.dtype), key, array, quantization)
            self.inputs.append(given)
            self.tracer.take(given)
        return found

    def _subscript(self, e: ast.Subscript, names: dict[str, Any]) -> Any:
        owner = self._value(e.value, names)
        if isinstance(owner, Ref):
            raise UnsupportedError(f"{ast.unparse(e)[:80]} is not supported", where=self._where())
        if isinstance(e.slice, ast.Slice):
            bounds = [
                None if v is None else self._value(v, names) for v in (e.slice.lower, e.slice.upper, e.slice.step)
            ]
            return owner[slice(*bounds)]
        return owner[self._value(e.slice, names)]

    # -- calls ---------------------------------------------------------------------------------------

    def _call(self, e: ast.Call, names: dict[str, Any]) -> Any:
        text = ast.unparse(e.func)
        if text in ("annotate", "unchecked_cast"):
            return self._value(e.args[1], names)
        if text == "uninitialized":
            return None
        if text in ("sorted", "dict"):
            return computed(text, [self._value(a, names) for a in e.args], self._where())
        if text in ("range", "int", "float", "bool", "str"):
            args = [self._value(a, names) for a in e.args]
            return range(*args) if text == "range" else self._converted(text, args[0])
        if text == "getattr":
            return self._member(self._value(e.args[0], names), self._value(e.args[1], names))
        args = [self._value(a, names) for a in e.args]
        kwargs = {k.arg: self._value(k.value, names) for k in e.keywords if k.arg is not None}
        operator = operator_of(e.func)
        if operator:
            return self._operated(operator, args, kwargs)
        if text.startswith("__torch__."):
            if text.endswith(".__new__"):
                return ScriptObject(text.removesuffix(".__new__"), made=True)
            function = self.script.definition(text)
            if isinstance(function, ast.FunctionDef):
                return self._function(function, args, kwargs)
            fields = named_fields(function)
            if fields is not None:
                return NamedItems.of(fields, args)
            raise UnsupportedError(f"objects of {text} are not supported", where=self._where())
        if isinstance(e.func, ast.Name) and isinstance(names.get(e.func.id), ast.FunctionDef):
            return self._function(names[e.func.id], args, kwargs)
        if isinstance(e.func, ast.Attribute):
            owner = self._value(e.func.value, names)
            if isinstance(owner, ScriptObject):
                return self._method(owner, e.func.attr, [owner, *args], kwargs)
        raise UnsupportedError(f"the call {ast.unparse(e)[:80]} is not supported", where=self._where())

    def _method(self, owner: Any, name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        if not isinstance(owner, ScriptObject):
            raise UnsupportedError(f"{name} of what is no object is not supported", where=self._where())
        method = self.script.method(owner.type, name)
        if method is None:
            raise InputError(f"{owner.type} has no method {name!r}", where=self._where())
        place = next((p for p in self._paths(owner)), "")
        self.path.append(place)
        try:
            return self._function(method, args, kwargs)
        finally:
            self.path.pop()

    def _paths(self, owner: ScriptObject) -> list[str]:
        """The path of a module from the root, once it has been asked for."""
        if not hasattr(self, "_places"):
            self._places: dict[int, str] = {}

            def visit(o: ScriptObject, path: str) -> None:
                self._places.setdefault(id(o), path)
                for key, value in o.attributes.items():
                    if isinstance(value, ScriptObject) and id(value) not in self._places:
                        visit(value, f"{path}.{key}" if path else key)

            visit(self.script.root, "")
        return [p for p in (self._places.get(id(owner)),) if p]

    def _converted(self, kind: str, value: Any) -> Any:
        if isinstance(value, Ref):
            known = self.tracer.value(value)
            if known.array is None:
                raise UnsupportedError(f"{kind} of a tensor that is computed at run time", where=self._where())
            value = known.array.reshape(-1)[0].item()
        return {"int": int, "float": float, "bool": bool, "str": str}[kind](value)

    def _operated(self, operator: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """The value of an operator: a number at once, a tensor as a call of the graph."""
        if operator == RAISE:
            raise InputError(f"the script raises: {args[0]}"[:200], where=self._where(), hint="change its inputs")
        if operator in THE_SAME:
            return args[0]
        of_objects = operator in IDENTITY or bool(args) and isinstance(args[0], (list, dict)) and operator in LISTS
        if operator in NUMBERS and (of_objects or not any(isinstance(a, Ref) for a in args)):
            return computed(operator, args, self._where())
        if operator in PACKS and not any(isinstance(a, Ref) for a in args):
            return packed(operator, args, self._where())
        if operator in ASKED:
            return self._asked(operator, args)
        if operator in ELSEWHERE and isinstance(args[0], Ref):
            if isinstance(self.tracer.value(args[0]), QuantizedValue):
                return args[0]
        return self._noted(operator, args, kwargs)

    def _asked(self, operator: str, args: list[Any]) -> Any:
        """The answer to a question about a tensor."""
        if operator == "prim.NumToTensor":
            return args[0]
        if args and isinstance(args[0], Ref) and isinstance(value := self.tracer.value(args[0]), QuantizedValue):
            found = asked_of_quantized(operator, value)
            if found is not None:
                return found
        if operator in NOTHING:
            return NOTHING[operator]
        if operator in OF_QUANTIZED:
            raise InputError(f"torch.{operator} of what is not quantised", where=self._where(), hint="quantise it")
        if not isinstance(args[0], Ref):
            return len(args[0]) if operator == "len" else args[0]
        value: Value = self.tracer.value(args[0])
        if operator == "size":
            return value.shape[int(args[1])] if len(args) > 1 else list(value.shape)
        if operator in ("item", "Int", "Float", "Bool", "ScalarImplicit", "IntImplicit"):
            if value.array is None:
                raise UnsupportedError("a number depends on values of tensors", where=self._where())
            return value.array.reshape(-1)[0].item()
        if operator == "prim.dtype":
            return DTYPES.index(value.dtype)
        if operator == "is_floating_point":
            return "float" in value.dtype
        length = value.shape[0] if value.shape else 0
        return {"dim": value.rank, "numel": prod(value.shape), "len": length}[operator]

    def _noted(self, operator: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """A call of the graph, its results as references."""
        packet = operator.removeprefix("aten.")
        target = packet if "." in packet else f"aten.{packet}"
        path = next((p for p in reversed(self.path) if p), "")
        name = f"v{len(self.calls)}"
        if packet.removesuffix("_") in OF_NUMBERS and any(isinstance(a, Ref) and a not in self.numbers for a in args):
            args = [self.numbers.get(a, a) if isinstance(a, Ref) else a for a in args]
        call = resolved(AtenCall(name, target, tuple(map(_copied, args)), kwargs, SourcePlace(path)), DTYPES)
        made = self.tracer.call(call)
        self.calls.append(call)
        return self._parts(Ref(name), made)

    def _parts(self, ref: Ref, made: Any) -> Any:
        """The results of a call: itself, or a tuple or list of what takes them from it."""
        if isinstance(made, Value):
            return ref
        if isinstance(made, (bool, int, float, str)) or made is None:
            return made
        parts: list[Any] = []
        for k, part in enumerate(made):
            if not isinstance(part, Value):
                parts.append(part)
                continue
            name = f"{ref.name}_{k}"
            self.calls.append(AtenCall(name, "getitem", (ref, k)))
            self.tracer.call(self.calls[-1])
            parts.append(Ref(name))
        return tuple(parts) if isinstance(made, tuple) else parts


def _items(value: Any) -> list[Any]:
    """The items of a list or tuple, none of what is neither."""
    return list(value) if isinstance(value, (list, tuple)) else []  # pyright: ignore[reportUnknownArgumentType]


def _copied(value: Any) -> Any:
    """An argument as it is now: lists may grow."""
    return [_copied(v) for v in value] if isinstance(value, list) else value  # pyright: ignore[reportUnknownVariableType]
