"""The kinds of nodes that an expression contains."""

from __future__ import annotations

from collections import Counter
from enum import IntEnum
from typing import Any

from lamina.frontends.tvm_text import adt
from lamina.frontends.tvm_text import expr as e
from lamina.frontends.tvm_text.walk import children, post_order


class Feature(IntEnum):
    """The kinds, by TVM's numbers. `fGraph`: a node is used twice. `fLetRec`: a function calls itself by its let."""

    fVar = 0
    fGlobalVar = 1
    fConstant = 2
    fTuple = 3
    fTupleGetItem = 4
    fFunction = 5
    fOp = 6
    fCall = 7
    fLet = 8
    fIf = 9
    fRefCreate = 10
    fRefRead = 11
    fRefWrite = 12
    fConstructor = 13
    fMatch = 14
    fGraph = 15
    fLetRec = 16


_KINDS: dict[type[e.Expr], Feature] = {
    e.Var: Feature.fVar, e.GlobalVar: Feature.fGlobalVar, e.Constant: Feature.fConstant, e.Tuple: Feature.fTuple,
    e.TupleGetItem: Feature.fTupleGetItem, e.Function: Feature.fFunction, e.Op: Feature.fOp, e.Call: Feature.fCall,
    e.Let: Feature.fLet, e.If: Feature.fIf, e.RefCreate: Feature.fRefCreate, e.RefRead: Feature.fRefRead,
    e.RefWrite: Feature.fRefWrite, adt.Constructor: Feature.fConstructor, adt.Match: Feature.fMatch,
}  # fmt: skip
_ATOMS = (e.Var, e.GlobalVar, e.Op, e.Constant, adt.Constructor)


def detect_feature(a: Any, b: Any = None) -> set[Feature]:
    """The kinds of nodes in an expression, or in all functions of a module (either argument may be it)."""
    from lamina.compat.tvm.ir_module import IRModule

    if isinstance(a, IRModule):
        a, b = b, a
    roots = [*([e.as_expr(a)] if a is not None else []), *(b.functions.values() if b is not None else ())]
    found: set[Feature] = set()
    for root in roots:
        uses: Counter[e.Expr] = Counter()
        for node in post_order(root):
            found.add(_KINDS[type(node)])
            uses.update(c for c in children(node) if not isinstance(c, _ATOMS))
            if isinstance(node, e.Let) and any(n is node.var for n in post_order(node.value)):
                found.add(Feature.fLetRec)
        if any(count > 1 for count in uses.values()):
            found.add(Feature.fGraph)
    return found


__all__ = ["Feature", "detect_feature"]
