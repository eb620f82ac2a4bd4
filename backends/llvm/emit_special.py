"""Ops whose text is no fixed template: calls, jumps, address arithmetic, inline assembly."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, IntegerType
from xdsl.ir import Operation, SSAValue

from lamina.backends.llvm.emit_rows import CALLABLE, SPELLINGS
from lamina.backends.llvm.emit_values import EmitError, integer_of, integer_text, quoted, type_text
from lamina.dialects.fast_ir import operands_of
from lamina.dialects.llvm_target import ops as llvm

if TYPE_CHECKING:
    from lamina.backends.llvm.emit import Emitter

CALLING_CONVENTIONS = {"ccc": "", "fastcc": "fastcc ", "coldcc": "coldcc "}

_GEP_FLAGS = {0: "", 2: "nusw ", 3: "inbounds ", 4: "nuw ", 6: "nusw nuw ", 7: "inbounds nuw "}
_GEP_PROPERTIES = frozenset({"elem_type", "rawConstantIndices", "noWrapFlags"})


def _only(op: Operation, *names: str) -> None:
    for name in op.properties:
        if name not in names:
            raise EmitError(f"property '{name}' has no row")


def _getelementptr(emitter: Emitter, op: Operation) -> str:
    properties = op.properties
    raw = properties["rawConstantIndices"]
    flags = properties.get("noWrapFlags")
    if len(properties) > 3 or not _GEP_PROPERTIES.issuperset(properties):
        _only(op, *_GEP_PROPERTIES)
    names = emitter.names
    operands = operands_of(op)
    element = emitter.type(properties["elem_type"])
    (result,) = op.results
    if len(operands) == 1:
        # The usual case of unrolled code: constants only, often the same attribute again.
        key = id(raw)
        indices = emitter.indices.get(key)
        if indices is None:
            numbers = cast("DenseArrayBase[IntegerType]", raw).get_values()
            indices = emitter.indices[key] = "".join([f", i32 {n}" for n in numbers])
            emitter.kept.append(raw)
    else:
        given = iter(operands[1:])
        parts: list[str] = []
        for number in cast("DenseArrayBase[IntegerType]", raw).get_values():
            if number == llvm.GEP_USE_SSA_VAL:
                value = next(given, None)
                if value is None:
                    raise EmitError("more indices than operands")
                parts.append(f", {emitter.typed[id(value)]}")
            else:
                parts.append(f", i32 {number}")
        if next(given, None) is not None:
            raise EmitError("more operands than indices")
        indices = "".join(parts)
    word = ""
    if flags is not None:
        bits = cast("IntegerAttr[Any]", flags).value.data
        if bits not in _GEP_FLAGS:
            raise EmitError(f"unknown noWrapFlags {bits}")
        word = _GEP_FLAGS[bits]
    return f"  {names[id(result)]} = getelementptr {word}{element}, {emitter.typed[id(operands[0])]}{indices}"


def _assigned(emitter: Emitter, op: Operation) -> str:
    return f"  {emitter.names[id(op.results[0])]} = " if op.results else "  "


def _result_type(emitter: Emitter, op: Operation) -> str:
    return emitter.type(op.results[0].type) if op.results else "void"


def _no_bundles(op: Operation) -> None:
    sizes = op.properties.get("op_bundle_sizes")
    if isinstance(sizes, DenseArrayBase) and len(cast("DenseArrayBase[Any]", sizes)):
        raise EmitError("operand bundles have no row")


_TAIL_CALLS = {"none": "", "tail": "tail ", "musttail": "musttail ", "notail": "notail "}


def _call(emitter: Emitter, op: Operation) -> str:
    assert isinstance(op, llvm.CallOp)
    _no_bundles(op)
    known = ("callee", "var_callee_type", "fastmathFlags", "CConv", "op_bundle_sizes", "TailCallKind")
    _only(op, *known, "operandSegmentSizes")
    arguments = list(op.args)
    if op.callee is not None:
        target = emitter.refer(op.callee.root_reference.data)
        emitter.called(op.callee.root_reference.data, [v.type for v in arguments], [r.type for r in op.results], op)
    else:
        target = emitter.name(arguments.pop(0))
    convention = CALLING_CONVENTIONS.get(op.CConv.convention.data)
    if convention is None:
        raise EmitError(f"calling convention {op.CConv.convention.data} has no row")
    tail = _TAIL_CALLS[op.TailCallKind.data.value]
    flags = SPELLINGS["fastmathFlags"](op.properties.get("fastmathFlags"))
    type_ = _result_type(emitter, op) if op.var_callee_type is None else emitter.type(op.var_callee_type)
    values = ", ".join(emitter.typed[id(v)] for v in arguments)
    return f"{_assigned(emitter, op)}{tail}call{flags} {convention}{type_} {target}({values})"


def _call_intrinsic(emitter: Emitter, op: Operation) -> str:
    assert isinstance(op, llvm.CallIntrinsicOp)
    _no_bundles(op)
    _only(op, "intrin", "fastmathFlags", "op_bundle_sizes", "operandSegmentSizes")
    base = op.intrin.data
    signature = CALLABLE.get(base)
    if signature is None:
        raise EmitError(f"intrinsic '{base}' has no row; known are {', '.join(sorted(CALLABLE))}")
    missing = [f for f in signature.features if f"+{f}" not in emitter.features]
    if missing:
        raise EmitError(f"intrinsic '{base}' needs the target feature {', '.join(missing)}")
    if not emitter.triple.startswith(signature.triple):  # empty for all machines
        raise EmitError(f"intrinsic '{base}' exists on {signature.triple} only")
    values = operands_of(op)
    arguments = [emitter.type(v.type) for v in values]
    typed = [emitter.typed[id(v)] for v in values]
    result = _result_type(emitter, op)
    if signature.overload:
        name = emitter.intrinsic(base, signature.overload, op, [v.type for v in values])
    else:
        if (result, tuple(arguments)) != (signature.result, signature.arguments):
            raise EmitError(f"intrinsic '{base}' takes ({', '.join(signature.arguments)}) and gives {signature.result}")
        if signature.settings and tuple(typed[-len(signature.settings) :]) != signature.settings:
            raise EmitError(f"the last arguments of '{base}' are {', '.join(signature.settings)}")
        name = "@" + base
        emitter.declare(name, result, arguments)
    flags = SPELLINGS["fastmathFlags"](op.properties.get("fastmathFlags"))
    return f"{_assigned(emitter, op)}call{flags} {result} {name}({', '.join(typed)})"


def _inline_asm(emitter: Emitter, op: Operation) -> str:
    assert isinstance(op, llvm.InlineAsmOp)
    known = ("asm_string", "constraints", "asm_dialect", "has_side_effects", "is_align_stack", "tail_call_kind")
    _only(op, *known)
    words = "".join(
        word
        for name, word in (("has_side_effects", " sideeffect"), ("is_align_stack", " alignstack"))
        if name in op.properties
    )
    if op.asm_dialect is not None and op.asm_dialect.value.data == 1:
        words += " inteldialect"
    tail = _TAIL_CALLS[op.tail_call_kind.data.value]
    values = ", ".join(emitter.typed[id(v)] for v in op.operands_)
    strings = f"{quoted(op.asm_string.data)}, {quoted(op.constraints.data)}"
    return f"{_assigned(emitter, op)}{tail}call {_result_type(emitter, op)} asm{words} {strings}({values})"


def _return(emitter: Emitter, op: Operation) -> str:
    _only(op)
    values = operands_of(op)
    given = values[0].type if values else llvm.LLVMVoidType()
    if given != emitter.returns:
        raise EmitError(f"returns {given}, the function {emitter.returns}")
    return f"  ret {emitter.typed[id(values[0])]}" if values else "  ret void"


def _br(emitter: Emitter, op: Operation) -> str:
    _only(op)
    (label,) = emitter.jump(op, [(op.successors[0], operands_of(op))])
    return f"  br label {label}"


def _segments(op: Operation) -> tuple[int, ...]:
    sizes = op.properties.get("operandSegmentSizes")
    if not isinstance(sizes, DenseArrayBase):
        raise EmitError("operandSegmentSizes is missing")
    counts = tuple(cast("DenseArrayBase[IntegerType]", sizes).get_values())
    if sum(counts) != len(operands_of(op)):
        raise EmitError("operandSegmentSizes does not add up to the operands")
    return counts


def _cond_br(emitter: Emitter, op: Operation) -> str:
    _only(op, "operandSegmentSizes")
    _, yes, _ = _segments(op)
    values = operands_of(op)
    labels = emitter.jump(op, [(op.successors[0], values[1 : 1 + yes]), (op.successors[1], values[1 + yes :])])
    return f"  br i1 {emitter.name(values[0])}, label {labels[0]}, label {labels[1]}"


def _switch(emitter: Emitter, op: Operation) -> str:
    assert isinstance(op, llvm.SwitchOp)
    _only(op, "operandSegmentSizes", "case_values", "case_operand_segments")
    _, default, _ = _segments(op)
    values = operands_of(op)
    numbers, counts = op.numbers(), op.segments()
    if not len(numbers) == len(counts) == len(op.successors) - 1:
        raise EmitError("one value, one operand count and one block for each case")
    targets: list[tuple[Any, tuple[SSAValue, ...]]] = [(op.successors[0], values[1 : 1 + default])]
    used = 1 + default
    for count, block in zip(counts, list(op.successors)[1:], strict=True):
        targets.append((block, values[used : used + count]))
        used += count
    labels = emitter.jump(op, targets)
    type_ = values[0].type
    text = type_text(type_)
    integer = integer_of(type_)
    if integer is None:
        raise EmitError(f"switches on {type_}")
    width = integer.width.data
    cases = " ".join(
        f"{text} {integer_text(n, width)}, label {label}" for n, label in zip(numbers, labels[1:], strict=True)
    )
    return f"  switch {emitter.typed[id(values[0])]}, label {labels[0]} [ {cases} ]"


SPECIAL: dict[type[Operation], Callable[[Emitter, Operation], str]] = {
    llvm.GEPOp: _getelementptr,
    llvm.CallOp: _call,
    llvm.CallIntrinsicOp: _call_intrinsic,
    llvm.InlineAsmOp: _inline_asm,
    llvm.ReturnOp: _return,
    llvm.BrOp: _br,
    llvm.CondBrOp: _cond_br,
    llvm.SwitchOp: _switch,
}
