"""LLVM assembly from the llvm dialect, by the table of `emit_rows.py`.

    %5 = llvm.intr.fma(%1, %2, %3) : ...   becomes   %5 = call <16 x float> @llvm.fma.v16f32(<16 x float> %1, ...)

Constants, addresses and poison have no instruction: they stand as operands where they are used. Block arguments
become phis; where a terminator reaches one block twice with different values, an empty block splits the edge.
A kernel has some 1500 ops, so names are kept by the identity of the value, types by the identity of the type, and
the flags of an op are turned into text once for each distinct set of properties.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from lamina.backends.llvm.emit_compile import compile_row
from lamina.backends.llvm.emit_function import function_header, global_text
from lamina.backends.llvm.emit_rows import METADATA, ROWS
from lamina.backends.llvm.emit_special import SPECIAL
from lamina.backends.llvm.emit_values import (
    EmitError,
    constant_text,
    mangled,
    symbol,
    type_text,
    zero_text,
)
from lamina.dialects.fast_ir import next_of, type_of
from lamina.dialects.llvm_target import ops as llvm
from lamina.dialects.target import TargetAttr, module_target

EMITTER_VERSION = 1
"""Part of the key of cached objects: raise it when the text for equal input changes."""

__all__ = ["EMITTER_VERSION", "EmitError", "Emitter", "emit_kernel", "emit_kernels", "emit_module"]

_INLINE = frozenset({llvm.ConstantOp, llvm.AddressOfOp, llvm.UndefOp, llvm.PoisonOp, llvm.ZeroOp})
"""Ops that become operands, not instructions."""

_TERMINATORS = frozenset({llvm.BrOp, llvm.CondBrOp, llvm.SwitchOp, llvm.ReturnOp, llvm.UnreachableOp})

Line = Callable[[Operation], str]


class Emitter:
    """Turns functions and globals into text; keeps what one module's text shares: types, declarations."""

    def __init__(
        self, target: TargetAttr | None = None, signatures: Mapping[str, llvm.LLVMFunctionType] | None = None
    ) -> None:
        self.target = target
        self.triple = target.triple.data if target is not None else ""
        self.features = frozenset(target.feature_list()) if target is not None else frozenset[str]()
        self.names: dict[int, str] = {}
        """Operand text of the current function's values by identity: `%5`, `0x3FF0000000000000`."""
        self.typed: dict[int, str] = {}
        """The same with the type in front: `float %5`."""
        self.declarations: dict[str, str] = {}
        self.kept: list[Attribute] = []
        self.referenced: dict[str, None] = {}
        """Symbols of the module that the text so far mentions, in order."""
        self.types: dict[int, str] = {}
        """Text of types by identity; `kept` holds them alive."""
        self.indices: dict[int, str] = {}
        """Constant indices of getelementptr by the identity of their attribute."""
        self.returns: Attribute | None = None
        self.signatures: Mapping[str, llvm.LLVMFunctionType] = signatures or {}
        """Types of the module's functions, to check calls against."""
        self._groups: dict[str, int] = {}
        self._constants: dict[tuple[int, int], str] = {}
        self._lines: dict[type[Operation], Line] = {}
        self._labels: dict[Block, str] = {}
        self.incoming: dict[Block, list[tuple[str, tuple[SSAValue, ...]]]] = {}
        self.trampolines: list[str] = []
        self.label = ""

    # what rows ask for

    def type(self, type_: Attribute) -> str:
        text = self.types.get(id(type_))
        if text is None:
            text = type_text(type_)
            self.types[id(type_)] = text
            self.kept.append(type_)
        return text

    def name(self, value: SSAValue) -> str:
        text = self.names.get(id(value))
        if text is None:
            raise EmitError(f"a value of type {value.type} is used outside of the function that defines it")
        return text

    def intrinsic(
        self, base: str, overload: str, op: Operation, arguments: list[Attribute], immediates: Iterable[str] = ()
    ) -> str:
        """`@llvm.fma.v16f32`, declared."""
        suffix: list[str] = []
        for place in overload:
            value = op.results[0] if place == "r" else op.operands[int(place)]
            suffix.append(mangled(value.type, op))
        name = symbol(".".join([base, *suffix]))
        result = self.type(op.results[0].type) if op.results else "void"
        self.declare(name, result, [*map(self.type, arguments), *immediates])
        return name

    def called(self, name: str, inputs: list[Attribute], outputs: list[Attribute], op: Operation) -> None:
        """Check a direct call against the function of the module."""
        type_ = self.signatures.get(name)
        if type_ is None:
            raise EmitError(f"call of @{name}, which the module does not declare", op=op)
        fixed = list(type_.inputs)
        result = [] if isinstance(type_.output, llvm.LLVMVoidType) else [type_.output]
        if inputs[: len(fixed)] != fixed or (len(inputs) > len(fixed) and not type_.is_variadic) or result != outputs:
            raise EmitError(f"call of @{name} does not fit its type {type_}", op=op)

    def attribute_group(self, words: list[str]) -> str:
        """` #0` for a list of function attributes, shared between functions."""
        if not words:
            return ""
        number = self._groups.setdefault(" ".join(words), len(self._groups))
        return f" #{number}"

    def declare(self, name: str, result: str, arguments: list[str]) -> None:
        line = f"declare {result} {name}({', '.join(arguments)})"
        if self.declarations.setdefault(name, line) != line:
            raise EmitError(f"{name} is used with two signatures")

    def refer(self, name: str) -> str:
        self.referenced[name] = None
        return symbol(name)

    # one function

    def function(self, func: llvm.FuncOp) -> str:
        """The definition, or the declaration when it has no body."""
        blocks = list(func.body.blocks)
        header = function_header(self, func, not blocks)
        if not blocks:
            return header + "\n"
        ops_of = self._enter(blocks, func)
        lines_of: list[str] = [header + " {"]
        bodies: list[list[str]] = []
        for block, ops in zip(blocks, ops_of, strict=True):
            self.label = self._labels[block]
            bodies.append(self._instructions(ops))
        for block, body in zip(blocks, bodies, strict=True):
            lines_of.append(self._labels[block] + ":")
            if block is not blocks[0] and block.args:
                lines_of.extend(self._phis(block))
            lines_of.extend(body)
        lines_of.extend(self.trampolines)
        lines_of.append("}\n")
        return "\n".join(lines_of)

    def _instructions(self, ops: list[Operation]) -> list[str]:
        lines = self._lines
        body: list[str] = []
        append = body.append
        for op in ops:
            line = lines.get(type(op)) or self._line(op)
            try:
                append(line(op))
            except EmitError as error:
                raise _located(error, op) from error
            except KeyError as error:
                raise _located(EmitError("an operand is defined outside of the function"), op) from error
            except (ValueError, IndexError, TypeError) as error:
                raise _located(EmitError(f"operands or results do not fit the op ({error})"), op) from error
            if op.attributes:
                raise EmitError(f"{op.name}: attribute '{next(iter(op.attributes))}' has no row", op=op)
        return body

    def _enter(self, blocks: list[Block], func: llvm.FuncOp) -> list[list[Operation]]:
        """Name every value in the order of the text, so that a use may stand before its definition.

        Gives the instructions of each block.
        """
        self.names.clear()
        self.typed.clear()
        self.incoming = {block: [] for block in blocks}
        self.trampolines = []
        self._labels = {block: f"bb{i}" for i, block in enumerate(blocks)}
        reached = {successor for block in blocks for op in [block.last_op] if op for successor in op.successors}
        if blocks[0] in reached:
            raise EmitError(f"@{func.sym_name.data}: a jump to the entry block", op=func)
        names, typed, types = self.names, self.typed, self.types
        number = 0
        ops_of: list[list[Operation]] = []
        for block in blocks:
            # LLVM has no phi without a predecessor; nothing can read the values of a dead block.
            dead = block is not blocks[0] and block not in reached
            for arg in block.args:
                name = "poison" if dead else f"%{number}"
                names[id(arg)] = name
                typed[id(arg)] = f"{self.type(arg.type)} {name}"
                number += not dead
            last = block.last_op
            if last is None or type(last) not in _TERMINATORS:
                raise EmitError(f"@{func.sym_name.data}: a block does not end with a jump or return", op=func)
            ops: list[Operation] = []
            op: Operation | None = block.first_op
            while op is not None:
                results = op.results
                if results:
                    try:
                        (result,) = results
                    except ValueError:
                        raise EmitError(f"{op.name}: {len(results)} results, LLVM has one", op=op) from None
                    if type(op) in _INLINE:
                        name = self.inline(op)
                    else:
                        name = f"%{number}"
                        number += 1
                        ops.append(op)
                    type_ = type_of(result)
                    text = types.get(id(type_)) or self.type(type_)
                    names[id(result)] = name
                    typed[id(result)] = f"{text} {name}"
                else:
                    ops.append(op)
                    if op is not last and type(op) in _TERMINATORS:
                        raise EmitError(f"{op.name} in the middle of a block", op=op)
                op = next_of(op)
            ops_of.append(ops)
        return ops_of

    def inline(self, op: Operation) -> str:
        """The operand text of an op that is no instruction."""
        if op.attributes:
            raise EmitError(f"{op.name}: attribute '{next(iter(op.attributes))}' has no row", op=op)
        result = op.results[0].type
        if type(op) is llvm.ConstantOp:
            value = op.properties["value"]
            key = (id(value), id(result))
            text = self._constants.get(key)
            if text is None:
                text = self._constants[key] = constant_text(value, result, op)
                self.kept += (value, result)
            return text
        if type(op) is llvm.AddressOfOp:
            return self.refer(op.global_name.root_reference.data)
        if type(op) is llvm.ZeroOp:
            return zero_text(result)
        return "undef" if type(op) is llvm.UndefOp else "poison"

    def _phis(self, block: Block) -> list[str]:
        edges = self.incoming[block]
        if not edges:
            return []
        names, name = self.names, self.name
        # For each argument what flows into it, along each edge.
        given = zip(*([names.get(id(v)) or name(v) for v in values] for _, values in edges), strict=True)
        labels = [f", %{label} ]" for label, _ in edges]
        return [
            f"  {names[id(arg)]} = phi {self.type(type_of(arg))} "
            + ", ".join(["[ " + value + label for value, label in zip(values, labels, strict=True)])
            for arg, values in zip(block.args, given, strict=True)
        ]

    def jump(self, op: Operation, targets: list[tuple[Block, tuple[SSAValue, ...]]]) -> list[str]:
        """Labels for the targets of a terminator, recording what flows into their arguments."""
        labels: list[str] = []
        seen: dict[Block, tuple[SSAValue, ...]] = {}
        for block, values in targets:
            if block not in self._labels:
                raise EmitError(f"{op.name}: a jump out of the function", op=op)
            if [v.type for v in values] != [a.type for a in block.args]:
                raise EmitError(
                    f"{op.name}: the block takes ({', '.join(str(a.type) for a in block.args)}), "
                    f"the jump gives ({', '.join(str(v.type) for v in values)})",
                    op=op,
                )
            label, source = self._labels[block], self.label
            if seen.setdefault(block, values) != values:
                # One predecessor has one value in a phi: the second edge goes through a block of its own.
                split = f"{self.label}.{len(self.trampolines)}"
                self.trampolines.append(f"{split}:\n  br label %{label}")
                label = source = split
            self.incoming[block].append((source, values))
            labels.append("%" + label)
        return labels

    # modules

    def definition(self, op: llvm.FuncOp | llvm.GlobalOp) -> str:
        return self.function(op) if isinstance(op, llvm.FuncOp) else global_text(self, op)

    def external(self, op: llvm.FuncOp | llvm.GlobalOp) -> str:
        """The declaration of what another text defines."""
        if isinstance(op, llvm.FuncOp):
            return function_header(self, op, True) + "\n"
        word = "constant" if op.constant is not None else "global"
        return f"{symbol(op.sym_name.data)} = external {word} {self.type(op.global_type)}\n"

    def module_text(self, texts: list[str]) -> str:
        head = ""
        if self.target is not None:
            head = f'target triple = "{self.target.triple.data}"\n\n'
        groups = "".join(f"attributes #{number} = {{ {words} }}\n" for words, number in self._groups.items())
        declared = "".join(line + "\n" for line in self.declarations.values())
        body = "\n".join(texts)
        metadata = METADATA if "!0" in body or "!1" in body else ""
        return "\n".join(part for part in (head + body, declared, groups, metadata) if part)

    # rows

    def _line(self, op: Operation) -> Line:
        """The closure for the class of an op; an error where the table has no row."""
        cls = type(op)
        special = SPECIAL.get(cls)
        if special is not None:
            line: Line = partial(special, self)
        else:
            row = ROWS.get(cls)
            if row is None:
                raise EmitError(f"op '{op.name}' has no row in the LLVM emitter", op=op)
            line = compile_row(self, row)
        self._lines[cls] = line
        return line


def _located(error: EmitError, op: Operation) -> EmitError:
    if error.op is not None:
        return error
    return EmitError(f"{op.name}: {error.what}", op=op)


def _top_level(module: ModuleOp) -> dict[str, llvm.FuncOp | llvm.GlobalOp]:
    symbols: dict[str, llvm.FuncOp | llvm.GlobalOp] = {}
    for op in module.ops:
        if not isinstance(op, llvm.FuncOp | llvm.GlobalOp):
            raise EmitError(f"op '{op.name}' has no row at the top of an llvm module", op=op)
        name = op.sym_name.data
        if name in symbols:
            raise EmitError(f"@{name} is defined twice", op=op)
        symbols[name] = op
    return symbols


def emit_module(module: ModuleOp, target: TargetAttr | None = None) -> str:
    """The whole module as one LLVM assembly text. The target defaults to the module's own."""
    symbols = _top_level(module)
    signatures = {n: op.function_type for n, op in symbols.items() if isinstance(op, llvm.FuncOp)}
    emitter = Emitter(target or module_target(module), signatures)
    texts = [emitter.definition(op) for op in symbols.values()]
    for name in emitter.referenced:
        if name not in symbols:
            raise EmitError(f"@{name} is used but not declared")
    return emitter.module_text(texts)


def emit_kernels(module: ModuleOp, target: TargetAttr | None = None) -> Iterator[tuple[str, str]]:
    """One text for each externally visible function, with the internal things it needs; then, named "", the globals.

    The pieces are compiled apart, in any order, and link to one library.
    """
    yield from _pieces(_top_level(module), target or module_target(module))


def emit_kernel(
    functions: Iterable[llvm.FuncOp], declarations: Mapping[str, llvm.FuncOp], target: TargetAttr | None
) -> Iterator[tuple[str, str]]:
    """The text of each of these functions, as `emit_kernels` gives it; they call only those that are declared."""
    yield from _pieces({**declarations, **{f.sym_name.data: f for f in functions}}, target)


def _pieces(symbols: Mapping[str, llvm.FuncOp | llvm.GlobalOp], target: TargetAttr | None) -> Iterator[tuple[str, str]]:
    private = {n for n, op in symbols.items() if op.linkage.linkage.data in ("internal", "private")}
    globals_ = [n for n, op in symbols.items() if isinstance(op, llvm.GlobalOp) and n not in private]
    roots = [[n] for n, op in symbols.items() if isinstance(op, llvm.FuncOp) and n not in private and op.body.blocks]
    if globals_:
        roots.append(globals_)
    signatures = {n: op.function_type for n, op in symbols.items() if isinstance(op, llvm.FuncOp)}
    shared: dict[str, str] = {}
    for names in roots:
        emitter = Emitter(target, signatures)
        texts: list[str] = []
        pending, done = list(names), set(names)
        while pending:
            name = pending.pop()
            op = symbols[name]
            own = name in names or name in private
            if isinstance(op, llvm.GlobalOp) and name in private and op.constant is None:
                if shared.setdefault(name, names[0]) != names[0]:
                    raise EmitError(f"@{name} is internal and variable, but used by two functions", op=op)
            texts.append(emitter.definition(op) if own else emitter.external(op))
            for other in emitter.referenced:
                if other not in symbols:
                    raise EmitError(f"@{other} is used but not declared")
                if other not in done:
                    done.add(other)
                    pending.append(other)
        yield ("" if names is globals_ else names[0]), emitter.module_text(texts)
