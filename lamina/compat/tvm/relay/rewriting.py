"""Expressions that rewrites have written, of nodes of a program and of new ones, as values of the program."""

from __future__ import annotations

from xdsl.ir import Block, Operation, SSAValue

from lamina.compat.tvm.relay.from_ir import Reader
from lamina.dialects.relay.params import ParamStore
from lamina.frontends.tvm_text import expr as e
from lamina.frontends.tvm_text.scopes import scopes_of
from lamina.frontends.tvm_text.to_ir import Body, Builder


def built(expr: e.Expr, reader: Reader, store: ParamStore, draft: bool = False) -> tuple[SSAValue, list[Operation]]:
    """The value that an expression is, and the new ops that compute it, detached, in their order."""
    builder = Builder(store, draft=draft)
    builder.known = {n: v for v, n in reader.nodes.items()}
    for call_op, n in reader.calls.items():
        builder.known_tuples[n] = list(call_op.results)
    block = Block()
    body = Body(None, block)
    scopes = scopes_of(expr, block, lambda n: n in builder.known or n in builder.known_tuples)
    value = builder.one(builder.emit(expr, scopes.root, body, scopes.of), block)
    made = list(block.ops)
    for op in made:
        op.detach()
    return value, made


__all__ = ["built"]
