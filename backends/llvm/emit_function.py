"""Headers of functions, with their attributes, and globals with their initial values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, DictionaryAttr, IntegerAttr, StringAttr, UnitAttr
from xdsl.ir import Attribute, Operation

from lamina.backends.llvm.emit_special import CALLING_CONVENTIONS
from lamina.backends.llvm.emit_values import (
    EmitError,
    aggregate_text,
    constant_text,
    quoted,
    symbol,
    type_text,
    zero_text,
)
from lamina.dialects.llvm_target import ops as llvm
from lamina.dialects.machine_spec import STACK_PROBE, is_bare, is_windows

if TYPE_CHECKING:
    from lamina.backends.llvm.emit import Emitter

# Enum attributes of functions that `passthrough` may name, and those that take a number.
_WORDS = frozenset(
    "alwaysinline builtin cold convergent hot inlinehint minsize mustprogress naked nobuiltin noduplicate nofree "
    "noimplicitfloat noinline norecurse noredzone noreturn nosync nounwind optnone optsize ssp sspreq uwtable "
    "willreturn".split()
)
_NUMBERED = frozenset({"alignstack"})
_STRINGS = frozenset(
    "stackrealign prefer-vector-width min-legal-vector-width frame-pointer no-trapping-math target-cpu "
    "target-features tune-cpu no-builtins nvvm.maxntid nvvm.minctasm "
    "amdgpu-flat-work-group-size".split()
)
# Unit properties of llvm.func and their LLVM words.
_UNITS = {
    "no_inline": "noinline",
    "always_inline": "alwaysinline",
    "no_unwind": "nounwind",
    "will_return": "willreturn",
    "optimize_none": "optnone",
    "optnone": "optnone",
    "convergent": "convergent",
    "cold": "cold",
    "hot": "hot",
    "minsize": "minsize",
    "optsize": "optsize",
}
_VISIBILITY = ("", "hidden ", "protected ")
_UNNAMED_ADDR = ("", " local_unnamed_addr", " unnamed_addr")
_HANDLED = frozenset(
    "sym_name function_type CConv linkage visibility_ sym_visibility arg_attrs res_attrs unnamed_addr passthrough "
    "target_cpu target_features tune_cpu frame_pointer dso_local nvvm.kernel rocdl.kernel".split()
)
KERNELS = {"nvvm.kernel": ("nvptx64", "ptx_kernel "), "rocdl.kernel": ("amdgcn", "amdgpu_kernel ")}
"""MLIR's marks of functions that the host launches on the device: the triple's beginning, the convention of calls."""
_ARGUMENT_UNITS = frozenset(
    "noalias nonnull noundef readonly writeonly readnone nofree zeroext signext inreg returned immarg "
    "writable dead_on_unwind".split()
)
_ARGUMENT_NUMBERS = {"align": "align {}", "dereferenceable": "dereferenceable({})"}
_ARGUMENT_NUMBERS["dereferenceable_or_null"] = "dereferenceable_or_null({})"


def _number(value: Attribute) -> int:
    if not isinstance(value, IntegerAttr):
        raise EmitError(f"expected an integer, got {value}")
    return cast("IntegerAttr[Any]", value).value.data


def argument_attributes(attributes: Attribute | None) -> str:
    """` noalias align 64` from `{llvm.noalias, llvm.align = 64 : i64}`."""
    if attributes is None:
        return ""
    words: list[str] = []
    for name, value in cast(DictionaryAttr, attributes).data.items():
        bare = name.removeprefix("llvm.")
        if bare == "nocapture":
            words.append("captures(none)")
        elif bare in _ARGUMENT_UNITS and name != bare:
            if not isinstance(value, UnitAttr):
                raise EmitError(f"argument attribute '{name}' takes no value")
            words.append(bare)
        elif bare in _ARGUMENT_NUMBERS and name != bare:
            words.append(_ARGUMENT_NUMBERS[bare].format(_number(value)))
        else:
            raise EmitError(f"argument attribute '{name}' has no row")
    return "".join(" " + w for w in words)


def _text(value: Attribute) -> str:
    if not isinstance(value, StringAttr):
        raise EmitError(f"expected a string, got {value}")
    return value.data


def _passthrough(entry: Attribute) -> tuple[str, str]:
    """(name, text) of one entry: `"noinline"` or `["alignstack", "64"]`."""
    if isinstance(entry, ArrayAttr):
        name, value = (_text(e) for e in cast("ArrayAttr[Attribute]", entry).data)
        if name in _NUMBERED and value.isdecimal():
            return name, f"{name}={value}"
        if name in _STRINGS:
            return name, f"{quoted(name)}={quoted(value)}"
    else:
        name = _text(entry)
        if name in _WORDS:
            return name, name
        if name in _STRINGS:
            return name, quoted(name)
    raise EmitError(f"function attribute {entry} has no row")


def _function_attributes(emitter: Emitter, func: llvm.FuncOp, declaration: bool) -> list[str]:
    given = func.attributes | func.properties
    words: dict[str, str] = {}
    target = emitter.target
    if target is not None and not declaration:
        words["target-cpu"] = f'"target-cpu"={quoted(target.cpu.data)}'
        if target.features.data:
            words["target-features"] = f'"target-features"={quoted(target.features.data)}'
        bits = target.vector_bits.data
        words["prefer-vector-width"] = f'"prefer-vector-width"="{bits}"'
        if is_bare(target.triple.data):
            words |= {"minsize": "minsize", "optsize": "optsize"}
        if is_windows(target.triple.data):
            # Every function that has a frame is in a table there, whether or not exceptions go through it.
            words |= {"uwtable": "uwtable", "probe-stack": f'"probe-stack"={quoted(STACK_PROBE)}'}
    for name, value in given.items():
        if name in _UNITS:
            words[_UNITS[name]] = _UNITS[name]
        elif name == "target_cpu":
            words["target-cpu"] = f'"target-cpu"={quoted(_text(value))}'
        elif name == "tune_cpu":
            words["tune-cpu"] = f'"tune-cpu"={quoted(_text(value))}'
        elif name == "target_features":
            features = ",".join(f.data for f in value.features) if hasattr(value, "features") else None  # type: ignore
            if features is None:
                raise EmitError(f"expected #llvm.target_features, got {value}")
            words["target-features"] = f'"target-features"={quoted(features)}'
        elif name == "frame_pointer":
            words["frame-pointer"] = f'"frame-pointer"={quoted(str(value.data))}'  # type: ignore
        elif name == "passthrough":
            for entry in cast("ArrayAttr[Attribute]", value).data:
                key, text = _passthrough(entry)
                words[key] = text
        elif name not in _HANDLED:
            raise EmitError(f"function attribute '{name}' has no row")
    return list(words.values())


def function_header(emitter: Emitter, func: llvm.FuncOp, declaration: bool) -> str:
    """`define internal void @f(ptr noalias %0) #0`, or the `declare` line."""
    type_ = func.function_type
    emitter.returns = type_.output
    convention = CALLING_CONVENTIONS.get(func.CConv.convention.data)
    if convention is None:
        raise EmitError(f"calling convention {func.CConv.convention.data} has no row", op=func)
    for mark in KERNELS.keys() & func.attributes.keys():
        triple, convention = KERNELS[mark]
        if not emitter.triple.startswith(triple):
            raise EmitError(f"llvm.func @{func.sym_name.data}: {mark} is for {triple} only", op=func)
    try:
        words = _function_attributes(emitter, func, declaration)
        parts = [None] * len(type_.inputs) if func.arg_attrs is None else list(func.arg_attrs.data)
        arguments: list[str] = []
        names = [f" %{i}" for i in range(len(type_.inputs))] if not declaration else [""] * len(type_.inputs)
        for input_, attributes, name in zip(type_.inputs, parts, names, strict=True):
            arguments.append(emitter.type(input_) + argument_attributes(attributes) + name)
        result = argument_attributes(func.res_attrs.data[0]) if func.res_attrs and func.res_attrs.data else ""
    except EmitError as error:
        raise EmitError(f"llvm.func @{func.sym_name.data}: {error.what}", op=func) from error
    if type_.is_variadic:
        arguments.append("...")
    if not declaration and [a.type for a in func.body.blocks[0].args] != list(type_.inputs):
        raise EmitError(f"llvm.func @{func.sym_name.data}: the entry block's arguments differ from the type", op=func)
    linkage = func.linkage.linkage.data
    given = func.attributes | func.properties
    head = "" if linkage == "external" else linkage + " "
    if "dso_local" in given:
        head += "dso_local "
    head += _VISIBILITY[func.visibility_.value.data] + convention
    unnamed = _UNNAMED_ADDR[func.unnamed_addr.value.data if func.unnamed_addr is not None else 0]
    group = emitter.attribute_group(words)
    word = "declare" if declaration else "define"
    return (
        f"{word} {head}{result.lstrip() + ' ' if result else ''}{emitter.type(type_.output)} "
        f"{symbol(func.sym_name.data)}({', '.join(arguments)}){unnamed}{group}"
    )


_GLOBAL_PROPERTIES = frozenset(
    "global_type constant sym_name linkage dso_local thread_local_ visibility_ value alignment addr_space "
    "unnamed_addr section".split()
)


def global_text(emitter: Emitter, op: llvm.GlobalOp) -> str:
    """`@t = internal constant [2 x i64] [i64 0, i64 1], align 64`"""
    name = op.sym_name.data
    for key in (*op.properties, *op.attributes):
        if key not in _GLOBAL_PROPERTIES:
            raise EmitError(f"llvm.mlir.global @{name}: attribute '{key}' has no row", op=op)
    linkage = op.linkage.linkage.data
    space = op.addr_space.value.data
    type_ = op.global_type
    if op.body.blocks:
        value = " " + _region_value(emitter, op)
    elif op.value is not None:
        value = " " + constant_text(op.value, type_, op)
    else:
        value = ""
        if linkage not in ("external", "extern_weak"):
            raise EmitError(f"llvm.mlir.global @{name}: {linkage} without a value", op=op)
    words = [] if value and linkage == "external" else [linkage]
    if op.dso_local is not None:
        words.append("dso_local")
    if op.visibility_ is not None and op.visibility_.value.data:
        words.append(_VISIBILITY[op.visibility_.value.data].strip())
    if op.thread_local_ is not None:
        words.append("thread_local")
    if op.unnamed_addr is not None:
        words.append(_UNNAMED_ADDR[op.unnamed_addr.value.data].strip())
    if space:
        words.append(f"addrspace({space})")
    words.append("constant" if op.constant is not None else "global")
    text = f"{symbol(name)} = {' '.join(w for w in words if w)} {type_text(type_, op)}{value}"
    if op.section is not None:
        text += f", section {quoted(op.section.data)}"
    if op.alignment is not None:
        text += f", align {op.alignment.value.data}"
    return text + "\n"


class _Aggregate:
    """An array or struct while `insertvalue` fills it."""

    def __init__(self, type_: Attribute, rest: str) -> None:
        self.type = type_
        self.rest = rest
        """The text of all of it where nothing has been filled in."""
        self.elements: dict[int, Any] = {}

    def child_type(self, index: int) -> Attribute:
        if isinstance(self.type, llvm.LLVMArrayType) and 0 <= index < self.type.size.data:
            return self.type.type
        if isinstance(self.type, llvm.LLVMStructType) and 0 <= index < len(self.type.types):
            return self.type.types.data[index]
        raise EmitError(f"no element {index} in {self.type}")

    def insert(self, path: tuple[int, ...], value: Any) -> None:
        index, rest = path[0], path[1:]
        if not rest:
            self.child_type(index)
            self.elements[index] = value
            return
        child = self.elements.get(index)
        if not isinstance(child, _Aggregate):
            if child is not None:
                raise EmitError("insertvalue into a constant that is already complete")
            child = self.elements[index] = _Aggregate(self.child_type(index), self.rest)
        child.insert(rest, value)

    def text(self) -> str:
        if not self.elements:
            return self.rest
        count = self.type.size.data if isinstance(self.type, llvm.LLVMArrayType) else len(self.type.types)  # type: ignore
        parts: list[str] = []
        for i in range(count):
            value = self.elements.get(i, "zeroinitializer")
            shown = value.text() if isinstance(value, _Aggregate) else value
            parts.append(f"{type_text(self.child_type(i))} {shown}")
        return aggregate_text(self.type, parts)


# The memory of a GPU's block has no initial value, and only these two say so.
_EMPTY: dict[type[Operation], str] = {
    llvm.UndefOp: "undef",
    llvm.PoisonOp: "poison",
    llvm.ZeroOp: "zeroinitializer",
}


def _region_value(emitter: Emitter, op: llvm.GlobalOp) -> str:
    """The constant that the initializer region computes."""
    blocks = list(op.body.blocks)
    if len(blocks) != 1 or blocks[0].args:
        raise EmitError(f"llvm.mlir.global @{op.sym_name.data}: the initializer is one block", op=op)
    values: dict[int, Any] = {}
    for inner in blocks[0].ops:
        if isinstance(inner, llvm.ReturnOp):
            value = values[id(inner.operands[0])]
            if inner.operands[0].type != op.global_type:
                raise EmitError(f"the initializer gives {inner.operands[0].type}, not {op.global_type}", op=op)
            return value.text() if isinstance(value, _Aggregate) else value
        values[id(inner.results[0])] = _folded(emitter, inner, values)
    raise EmitError(f"llvm.mlir.global @{op.sym_name.data}: the initializer returns nothing", op=op)


def _folded(emitter: Emitter, op: Operation, values: dict[int, Any]) -> Any:
    if isinstance(op, llvm.InsertValueOp):
        container = values[id(op.container)]
        if not isinstance(container, _Aggregate) or op.container.has_more_than_one_use():
            raise EmitError("an initializer is one chain of insertvalue from undef or poison", op=op)
        path = tuple(cast("DenseArrayBase[Any]", op.position).iter_values())
        container.insert(path, values[id(op.value)])
        return container
    if isinstance(op, llvm.GEPOp):
        indices = "".join(f", i32 {i}" for i in op.rawConstantIndices.iter_values())
        if len(op.operands) != 1:
            raise EmitError("an address in an initializer has constant indices", op=op)
        return f"getelementptr ({type_text(op.elem_type, op)}, ptr {values[id(op.ptr)]}{indices})"
    if isinstance(op, llvm.UndefOp | llvm.PoisonOp | llvm.ZeroOp):
        type_ = op.results[0].type
        if isinstance(type_, llvm.LLVMArrayType | llvm.LLVMStructType):
            return _Aggregate(type_, _EMPTY[type(op)])
        return zero_text(type_) if isinstance(op, llvm.ZeroOp) else "undef"
    if isinstance(op, llvm.ConstantOp | llvm.AddressOfOp):
        return emitter.inline(op)
    raise EmitError(f"op '{op.name}' has no row in an initializer", op=op)
