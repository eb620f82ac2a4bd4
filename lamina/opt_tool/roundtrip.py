"""`--verify-roundtrip`: what is printed reads back as the same module and prints the same again, in both syntaxes."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue

from lamina.errors import InputError, LaminaError


def difference(first: Operation, second: Operation) -> str | None:
    """The first difference between two ops with all inside them, save locations; None when nothing does.

    Values may be used before the text defines them, so operands are compared when all definitions are known.
    """
    values: dict[SSAValue, SSAValue] = {}
    blocks: dict[Block, Block] = {}
    pairs: list[tuple[Operation, Operation]] = []
    stack = [(first, second)]
    while stack:
        a, b = stack.pop()
        pairs.append((a, b))
        if type(a) is not type(b) or a.name != b.name:
            return f"{a.name} became {b.name}"
        if a.attributes != b.attributes or a.properties != b.properties:
            return f"the attributes of {a.name}"
        if a.result_types != b.result_types:
            return f"the result types of {a.name}"
        values.update(zip(a.results, b.results, strict=True))
        if len(a.regions) != len(b.regions):
            return f"the number of regions of {a.name}"
        for ra, rb in zip(a.regions, b.regions, strict=True):
            blocks_a, blocks_b = list(ra.blocks), list(rb.blocks)
            if len(blocks_a) != len(blocks_b):
                return f"the number of blocks of {a.name}"
            for ba, bb in zip(blocks_a, blocks_b, strict=True):
                blocks[ba] = bb
                ops_a, ops_b = list(ba.ops), list(bb.ops)
                if ba.arg_types != bb.arg_types or len(ops_a) != len(ops_b):
                    return f"a block of {a.name}"
                values.update(zip(ba.args, bb.args, strict=True))
                stack.extend(zip(ops_a, ops_b, strict=True))
    for a, b in pairs:
        if [values.get(v) for v in a.operands] != list(b.operands):
            return f"the operands of {a.name}"
        if [blocks.get(s) for s in a.successors] != list(b.successors):
            return f"the successors of {a.name}"
    return None


def verify_roundtrip(
    module: ModuleOp, print_: Callable[[ModuleOp, bool], str], parse: Callable[[str, str], ModuleOp]
) -> None:
    """Raises InputError. `print_` takes the module and whether to use the generic syntax, `parse` a text and a name."""
    for generic in (False, True):
        form = "generic" if generic else "custom"
        text = print_(module, generic)
        try:
            again = parse(text, f"<{form} syntax>")
        except LaminaError as e:
            raise InputError(f"round trip: the printed {form} syntax does not parse: {e}") from e
        found = difference(module, again)
        if found is not None:
            raise InputError(f"round trip: the {form} syntax reads back as another module: {found}")
        other = print_(again, generic)
        if other != text:
            rows = zip(text.split("\n"), other.split("\n"), strict=False)
            old, new = next(p for p in rows if p[0] != p[1])
            raise InputError(f"round trip: the {form} syntax prints otherwise: {old.strip()!r}, {new.strip()!r}")
