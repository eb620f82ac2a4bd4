"""Pass pipelines: read from text, printed to text, run. opt-tool and the compile driver both use this.

    pipeline ::= element (`,` element)*
    element  ::= anchor `(` pipeline `)` | pass (`{` option* `}`)?
    option   ::= name (`=` value (`,` value)*)?          options are separated by blanks; `-` and `_` are the same

An anchor runs its passes on each op of that name directly inside the current one, as if it were a module of its own
(with the attributes of the real one): `builtin.module(func.func(cse),te-to-tir)`.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, ClassVar, Literal, Union, cast, get_args, get_origin, get_type_hints

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from lamina.dialects import edit
from lamina.dialects.infos import SYMBOLS
from lamina.errors import UsageError, did_you_mean
from lamina.ir.registry import Registry


@dataclass(frozen=True)
class AnchoredPasses(ModulePass):
    """Passes that run on each op of one name: `func.func(cse,canonicalize)`."""

    name: ClassVar[str] = "anchored"
    anchor: str
    passes: tuple[ModulePass, ...]

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        _run_on(op, ctx, [self], ())


class Hooks:
    """Hooks that are called around a pass. `op` is the module, or the op that an anchor names."""

    def before(self, pass_: ModulePass, op: Operation) -> None: ...

    def after(self, pass_: ModulePass, op: Operation) -> None: ...

    def failed(self, pass_: ModulePass, op: Operation, error: BaseException) -> None: ...


# -- text to passes ------------------------------------------------------------------------------------------

_TOKEN = re.compile(r"""\s*(?P<name>[A-Za-z0-9_][\w.\-]*)\s*""")
_VALUE = re.compile(r'"(?P<string>(?:[^"\\]|\\.)*)"|(?P<bare>[^\s,{}"]+)')


class _Reader:
    def __init__(self, text: str, registry: Registry) -> None:
        self.text = text
        self.pos = 0
        self.registry = registry

    def error(self, what: str, hint: str = "") -> UsageError:
        return UsageError(f"{what} at column {self.pos + 1} of the pipeline {self.text!r}", hint=hint)

    def peek(self) -> str:
        while self.pos < len(self.text) and self.text[self.pos].isspace():
            self.pos += 1
        return self.text[self.pos] if self.pos < len(self.text) else ""

    def take(self, char: str) -> bool:
        if self.peek() != char:
            return False
        self.pos += 1
        return True

    def pipeline(self, closing: str) -> list[ModulePass]:
        found: list[ModulePass] = []
        if self.peek() == closing:
            return found
        while True:
            found.append(self.element())
            if self.take(","):
                if self.peek() == closing:
                    raise self.error("expected a pass after ','")
                continue
            if self.peek() == closing:
                return found
            if not closing:
                raise self.error(f"expected ',' or the end, found {self.peek()!r}")
            raise self.error(f"expected ',' or {closing!r}, found {self.peek() or 'the end'!r}")

    def element(self) -> ModulePass:
        match = _TOKEN.match(self.text, self.pos)
        if match is None:
            raise self.error(f"expected the name of a pass, found {self.peek() or 'the end'!r}")
        start = self.pos
        self.pos = match.end()
        name = match["name"]
        if self.take("("):
            passes = self.pipeline(")")
            self.take(")")
            return AnchoredPasses(name, tuple(passes))
        if name == "mlir-opt" and self.peek() == "[":
            return self.mlir_opt()
        try:
            cls = self.registry.find(name)
        except UsageError:
            self.pos = start
            raise
        return make_pass(cls, self.options() if self.take("{") else {})

    def mlir_opt(self) -> ModulePass:
        from xdsl.utils.arg_spec import parse_spec

        end = self.text.find("]", self.pos)
        if end < 0:
            raise self.error("expected ']'")
        spec = parse_spec("mlir-opt" + self.text[self.pos : end + 1])
        self.pos = end + 1
        return self.registry.find("mlir-opt").from_spec(spec)

    def options(self) -> dict[str, tuple[str, ...]]:
        """Option texts by name; a string in quotes keeps them, so that "1" is never a number."""
        found: dict[str, tuple[str, ...]] = {}
        while not self.take("}"):
            match = _TOKEN.match(self.text, self.pos)
            if match is None:
                raise self.error(f"expected an option or '}}', found {self.peek() or 'the end'!r}")
            self.pos = match.end()
            name = match["name"].replace("-", "_")
            if name in found:
                raise self.error(f"option {name!r} is given twice")
            values: list[str] = []
            if self.take("="):
                values.append(self.value())
                while self.take(","):
                    values.append(self.value())
            found[name] = tuple(values)
        return found

    def value(self) -> str:
        self.peek()
        match = _VALUE.match(self.text, self.pos)
        if match is None:
            raise self.error(f"expected a value, found {self.peek() or 'the end'!r}")
        self.pos = match.end()
        return match[0]


def parse_pipeline(text: str, registry: Registry | None = None) -> list[ModulePass]:
    """The passes of a pipeline text. Raises UsageError."""
    reader = _Reader(text, registry or Registry())
    passes = reader.pipeline("")
    if len(passes) == 1 and isinstance(passes[0], AnchoredPasses) and passes[0].anchor == "builtin.module":
        return list(passes[0].passes)
    return passes


def make_pass(cls: type[ModulePass], options: dict[str, tuple[str, ...]]) -> ModulePass:
    """A pass from the texts of its options. Raises UsageError naming the pass and the option."""
    fields = {f.name: f for f in dataclasses.fields(cls) if f.init and f.name != "name"}
    values: dict[str, Any] = {}
    for name, texts in options.items():
        if name not in fields:
            near = did_you_mean(name, list(fields))
            has = f"it has {', '.join(map(_dashed, fields))}" if fields else "it has none"
            raise UsageError(f"pass {cls.name!r} has no option {_dashed(name)!r}", hint=near or has)
        try:
            values[name] = _convert(texts, _types(cls)[name])
        except ValueError:
            given = ",".join(texts) or "nothing"
            raise UsageError(
                f"option {_dashed(name)!r} of pass {cls.name!r} takes {type_text(_types(cls)[name])}, got {given}"
            ) from None
    for name, f in fields.items():
        if name in values or f.default is not dataclasses.MISSING or f.default_factory is not dataclasses.MISSING:
            continue
        if NoneType in get_args(_types(cls)[name]):
            values[name] = None
            continue
        raise UsageError(f"pass {cls.name!r} needs the option {_dashed(name)!r}", hint=type_text(_types(cls)[name]))
    try:
        return cls(**values)
    except (ValueError, TypeError) as e:
        raise UsageError(f"pass {cls.name!r}: {e}") from e


@cache
def _types(cls: type[ModulePass]) -> dict[str, Any]:
    """The types of a pass's options by name: they stand in the sources as text, which takes long to read."""
    return get_type_hints(cls)


def _dashed(name: str) -> str:
    return name.replace("_", "-")


def type_text(hint: Any) -> str:
    """A type as the help shows it: `int`, `tuple[int, ...]`, `one of a, b`."""
    origin = get_origin(hint)
    if origin is Literal:
        return "one of " + ", ".join(map(str, get_args(hint)))
    if origin in (Union, UnionType):
        return " or ".join(type_text(a) for a in get_args(hint) if a is not NoneType)
    return hint.__name__ if isinstance(hint, type) and origin is None else str(hint).replace("typing.", "")


def _convert(texts: Sequence[str], hint: Any) -> Any:
    origin, args = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        if not texts and NoneType in args:
            return None
        for alternative in args:
            if alternative is not NoneType:
                try:
                    return _convert(texts, alternative)
                except ValueError:
                    pass
        raise ValueError
    if origin is tuple:
        if len(args) == 2 and args[1] is Ellipsis:
            return tuple(_convert([t], args[0]) for t in texts)
        if len(args) != len(texts):
            raise ValueError
        return tuple(_convert([t], a) for t, a in zip(texts, args, strict=True))
    if hint is bool and not texts:
        return True
    if len(texts) != 1:
        raise ValueError
    text = texts[0]
    if origin is Literal:
        for choice in args:
            if _plain(text) == str(choice):
                return choice
        raise ValueError
    if hint is str:
        return _plain(text)
    if hint is bool:
        if text not in ("true", "false", "1", "0"):
            raise ValueError
        return text in ("true", "1")
    if hint is int:
        return int(text, 0)
    if hint is float:
        return float(text)
    raise ValueError


def _plain(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text[1:-1]) if text.startswith('"') else text


# -- passes to text ------------------------------------------------------------------------------------------


def print_pipeline(passes: Iterable[ModulePass]) -> str:
    """The text that `parse_pipeline` reads back as equal passes."""
    return ",".join(_pass_text(p) for p in passes)


def _pass_text(pass_: ModulePass) -> str:
    if isinstance(pass_, AnchoredPasses):
        return f"{pass_.anchor}({print_pipeline(pass_.passes)})"
    if pass_.name == "mlir-opt":
        return str(pass_)
    options: list[str] = []
    for f in dataclasses.fields(pass_):
        if not f.init or f.name == "name":
            continue
        value = getattr(pass_, f.name)
        default = f.default_factory() if f.default_factory is not dataclasses.MISSING else f.default
        if value == default and type(value) is type(default):
            continue
        if value is None:
            if default is not dataclasses.MISSING:
                options.append(_dashed(f.name))
            continue
        values = cast(tuple[Any, ...], value if isinstance(value, tuple) else (value,))
        options.append(_dashed(f.name) + ("=" if values else "") + ",".join(map(_value_text, values)))
    return pass_.name + (f"{{{' '.join(options)}}}" if options else "")


def _value_text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, str):
        return repr(value)
    if re.fullmatch(r"[A-Za-z_][\w.\-/]*", value) and value not in ("true", "false"):
        return value
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


# -- running -------------------------------------------------------------------------------------------------


def run_pipeline(module: ModuleOp, ctx: Context, passes: Sequence[ModulePass], hooks: Sequence[Hooks] = ()) -> None:
    """Run the passes in order. An exception of a pass comes through, after the hooks have heard of it."""
    _run_on(module, ctx, passes, hooks)


def _run_on(root: Operation, ctx: Context, passes: Sequence[ModulePass], hooks: Sequence[Hooks]) -> Operation:
    for p in passes:
        if isinstance(p, AnchoredPasses):
            children = [
                o for region in root.regions for block in region.blocks for o in block.ops if o.name == p.anchor
            ]
            for child in children:
                _run_on(child, ctx, p.passes, hooks)
            continue
        for hook in hooks:
            hook.before(p, root)
        try:
            root = _apply(p, ctx, root)
            for hook in hooks:
                hook.after(p, root)
        except BaseException as e:
            for hook in hooks:
                hook.failed(p, root, e)
            raise
    return root


def _apply(p: ModulePass, ctx: Context, root: Operation) -> Operation:
    """Apply a pass to a module, or to another op in a module made for it. Returns what became of the op."""
    if isinstance(root, ModuleOp):
        _apply_to_module(p, ctx, root)
        return root
    block, following = root.parent, root.next_op
    assert block is not None
    outer = root.parent_op()
    while outer is not None and not isinstance(outer, ModuleOp):
        outer = outer.parent_op()
    alone = ModuleOp([], dict(outer.attributes) if outer is not None else {})
    root.detach()
    alone.body.block.add_op(root)
    try:
        _apply_to_module(p, ctx, alone)
    finally:
        results = list(alone.body.block.ops)
        for op in results:
            op.detach()
            if following is None:
                block.add_op(op)
            else:
                block.insert_op_before(op, following)
    return next((op for op in results if op.name == root.name), root)


def _apply_to_module(p: ModulePass, ctx: Context, module: ModuleOp) -> None:
    """Apply a pass, which ends early where no further edit is allowed (`--fuel`)."""
    try:
        apply_pass(p, ctx, module)
    except edit.FuelSpentError:
        edit.forget_detached(module)
    if edit.traced() is not None:
        edit.tell_statistics(p.name)


def apply_pass(p: ModulePass, ctx: Context, module: ModuleOp) -> None:
    """Apply a pass to a module. Raises UnsupportedError where what it has made of it holds for some sizes only."""
    if SYMBOLS not in module.attributes:
        p.apply(ctx, module)
        return
    from lamina.ir.symbol_scope import changing

    with changing(module, p.name):
        p.apply(ctx, module)
