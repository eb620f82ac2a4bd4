"""`relay.transform`: constructors of our graph passes, under TVM's names and with TVM's arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, cast

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from lamina import transform as ours
from lamina.compat.tvm.imports import NO_FOLDER
from lamina.compat.tvm.ir_module import IRModule
from lamina.compat.tvm.relay.from_ir import Reader
from lamina.compat.tvm.transform import (
    OnNodes,
    Pass,
    PassContext,
    PassInfo,
    Sequential,
    function_pass,
    module_pass,
)
from lamina.errors import UsageError
from lamina.frontends.tvm_text import expr as e
from lamina.frontends.tvm_text.adt import Clause, Constructor, Match
from lamina.ir.context import LaminaContext
from lamina.ir.tvm_names import not_bridged
from lamina.passes.relay.partition.pattern_tables import TableEntry

__path__ = NO_FOLDER


_ARGUMENTS: dict[str, tuple[str, ...]] = {
    "FuseOps": ("fuse_opt_level",),
    "FoldConstant": ("fold_qnn",),
    "ToMixedPrecision": ("mixed_precision_type", "missing_op_mode"),
    "AnnotateTarget": ("targets", "include_non_call_ops"),
    "EliminateCommonSubexpr": ("fskip",),
    "DeadCodeElimination": ("inline_once", "ignore_impurity"),
    "RemoveUnusedFunctions": ("entry",),
    "PlanDevices": ("config",),
    "EtaExpand": ("expand_constructor", "expand_global_var"),
}
"""TVM's positional arguments where they are not the fields of our pass, in order."""

_DROPPED: dict[str, dict[str, Any]] = {
    "EliminateCommonSubexpr": {"fskip": None},
    "DeadCodeElimination": {"inline_once": False, "ignore_impurity": False},
    "FuseOps": {"fuse_opt_level": -1},
    "PlanDevices": {"config": None},
    "EtaExpand": {"expand_constructor": True, "expand_global_var": True},
}
"""Arguments of TVM's that are left out where they have this value."""


_AS_TVM: dict[str, dict[str, Any]] = {
    name: {"everything": True} for name in ("FoldScaleAxis", "ForwardFoldScaleAxis", "BackwardFoldScaleAxis")
}
"""Options of our passes that have another default where TVM's programs make them."""


def _constructor(name: str) -> Callable[..., Pass]:
    make = getattr(ours, name)

    def construct(*args: Any, **options: Any) -> Pass:
        names = _ARGUMENTS.get(name)
        if names is not None:
            options = dict(zip(names, args, strict=False)) | options
            args = ()
        for key, usual in _DROPPED.get(name, {}).items():
            if key in options and (options[key] == usual or options[key] is None):
                del options[key]
        return Pass(make(*args, **{**_AS_TVM.get(name, {}), **options}))

    construct.__name__ = construct.__qualname__ = name
    construct.__doc__ = make.__doc__
    return construct


def MergeComposite(pattern_table: Iterable[Sequence[Any]]) -> Pass:  # noqa: N802
    """Put what patterns match into functions with the attribute Composite: (name, pattern[, check]) in order.

    A check is given the expression that was matched and may refuse it.
    """
    entries = list(pattern_table)

    class Merge(ours.Pass):
        info = PassInfo(0, "MergeComposite", ())

        def transform(self, module: ModuleOp, ctx: LaminaContext) -> ModuleOp:
            from lamina.passes.relay.partition.merge_composite import merge_composites

            def adapted(check: Callable[[Any], bool] | None) -> Callable[[SSAValue], bool] | None:
                if check is None:
                    return None
                return lambda value: bool(check(Reader(ctx.params).node(value)))

            table = [TableEntry(n, p, adapted(rest[0]) if rest else None) for n, p, *rest in entries]
            PassContext.current().run(self.info, module, lambda: merge_composites(module, table))
            return module

    return _OfExpressions(Merge(), entries)


class _OfExpressions(Pass):
    """MergeComposite, which does without types: variables may have none, as in a pattern's tests."""

    def __init__(self, inner: ours.Pass, entries: Sequence[Sequence[Any]]) -> None:
        super().__init__(inner)
        self._entries = entries

    def __call__(self, mod: Any) -> IRModule:
        from lamina.compat.tvm.relay.dataflow_pattern import is_typed, partition

        if not isinstance(mod, IRModule) or all(map(is_typed, mod.functions.values())):
            return super().__call__(mod)
        found = IRModule(mod.functions, mod.type_definitions)
        for g, function in mod.functions.items():
            for name, pattern, *rest in self._entries:
                given = rest[0] if rest else None
                checked = {} if given is None else {"check": given}
                function = partition(pattern, function, {"Composite": name}, **checked)
            found[g] = function
        return found


def FirstOrderGradient() -> Pass:  # noqa: N802
    """A function gives (result, (gradient of each parameter))."""
    return Pass(ours.FirstOrderGradient(nested=True))


def gradient(expr: e.Expr, mod: IRModule | None = None, mode: str = "higher_order") -> e.Function:
    """The function that gives (result, (gradient of each parameter)) of another one. Both of TVM's modes are one."""
    if mode not in ("higher_order", "first_order"):
        raise UsageError(f"a mode of gradients is 'higher_order' or 'first_order', not {mode!r}")
    found = IRModule() if mod is None else IRModule(mod.functions, mod.type_definitions)
    found["main"] = expr
    return FirstOrderGradient()(found)["main"]


def Defunctionalization(func: e.Function, mod: IRModule) -> e.Function:  # noqa: N802
    """A function of a module without functions as values; the module gets what it needs, as in TVM."""
    name = next((g.name_hint for g, f in mod.functions.items() if f is func), None)
    if name is None:
        raise UsageError("Defunctionalization takes a function of the module", hint='as in (mod["main"], mod)')
    changed = Pass(ours.Defunctionalization(function=name))(mod)
    mod.update(changed)
    return mod[name]


class LayoutConfig:
    """Layers that ConvertLayout leaves as they are: `with LayoutConfig(skip_layers=[0]): ConvertLayout(...)`."""

    current: LayoutConfig | None = None

    def __init__(self, skip_layers: Sequence[int] | None = None) -> None:
        self.skip_layers = list(skip_layers or ())
        self._before: list[LayoutConfig | None] = []

    def __enter__(self) -> LayoutConfig:
        self._before.append(LayoutConfig.current)
        LayoutConfig.current = self
        return self

    def __exit__(self, *_: object) -> None:
        LayoutConfig.current = self._before.pop()


def ConvertLayout(desired_layouts: Mapping[str, Sequence[str]]) -> Pass:  # noqa: N802
    """Operators in other layouts: `{"nn.conv2d": ["NHWC", "default"]}`, but for layers that LayoutConfig skips."""
    skipped = LayoutConfig.current.skip_layers if LayoutConfig.current is not None else []
    return Pass(ours.ConvertLayout(desired_layouts=desired_layouts, skip_layers=skipped))


def ChangeBatch(data: Mapping[e.Var, int], batch_size: int = 16) -> Pass:  # noqa: N802
    """Another number of samples, along the axis that is given for each variable that has them."""
    named = [f"{variable.name_hint}:{axis}" for variable, axis in data.items()]
    return Pass(ours.ChangeBatch(data=named, batch_size=batch_size))


def recast(
    expr: e.Expr,
    dtype: str,
    out_dtype: str,
    ops: Sequence[str] | None = None,
    skip_layers: Sequence[int] | None = None,
) -> e.Expr:
    """An expression with some operators (nn.conv2d) on another type, and casts around them."""
    run = Pass(ours.Recast(dtype, out_dtype, list(ops or ["nn.conv2d"]), list(skip_layers or ())))
    found = run(IRModule.from_expr(expr))["main"]
    return found if isinstance(expr, e.Function) else found.body


def InferType() -> Pass:  # noqa: N802
    """Checks the types. They are always known: a module that is wrong is refused when it is formed."""

    def check(module: ModuleOp, _: ours.PassContext) -> ModuleOp:
        from lamina.ir.verification import verify_module

        verify_module(module)
        return module

    return Pass(ours.FunctionTransform(check, PassInfo(0, "InferType", ())))


def _unchanged(name: str, why: str) -> Callable[[], Pass]:
    def construct() -> Pass:
        return Pass(ours.FunctionTransform(lambda module, _: module, PassInfo(1, name, ())))

    construct.__name__ = name
    construct.__doc__ = why
    return construct


ToGraphNormalForm = _unchanged("ToGraphNormalForm", "Lets become shared nodes: our IR has no others.")
ToBasicBlockNormalForm = _unchanged("ToBasicBlockNormalForm", "Values stand in the block of their uses: they do.")


def ToANormalForm() -> Pass:  # noqa: N802
    """Every call by a name."""

    def run(mod: IRModule, _: PassContext) -> IRModule:
        return IRModule({g: normal_form(f) for g, f in mod.functions.items()}, mod.type_definitions)

    return _NodesOnly(run, PassInfo(1, "ToANormalForm", ()))


class _NodesOnly(Pass):
    """A pass whose outcome only expressions can say: it is not brought into our IR, where it would be lost."""

    def __init__(self, function: Callable[[IRModule, PassContext], IRModule], info: PassInfo) -> None:
        super().__init__(OnNodes(function, info))
        self._function = function

    def __call__(self, mod: Any) -> IRModule:
        mod.ir()
        return self._function(mod, cast("PassContext", PassContext.current()))


def normal_form(function: e.Function) -> e.Function:
    """A function in which each call is bound by a let, in the order in which they are computed."""
    from lamina.frontends.tvm_text.walk import operands_of

    bound: dict[e.Expr, e.Expr] = {}
    lets: list[tuple[e.Var, e.Expr]] = []
    stack: list[tuple[e.Expr, bool]] = [(function.body, False)]

    def name(value: e.Expr) -> e.Var:
        variable = e.Var(f"x{len(lets)}")
        lets.append((variable, value))
        return variable

    while stack:
        node, ready = stack.pop()
        if node in bound:
            continue
        if isinstance(node, (e.Var, e.GlobalVar, e.Op, e.Constant, Constructor)):
            bound[node] = node
        elif isinstance(node, e.Function):
            bound[node] = name(node if node.attrs.get("Primitive") else normal_form(node))
        elif isinstance(node, e.Let):
            # A let is a name already: of a function, which may call itself by it, or of what has one now.
            if isinstance(node.value, e.Function):
                lets.append((node.var, normal_form(node.value)))
                bound[node.value] = node.var
            if node.value not in bound:
                stack += [(node, True), (node.value, False)]
            elif node.body not in bound:
                bound[node.var] = bound[node.value]
                stack += [(node, True), (node.body, False)]
            else:
                bound[node] = bound[node.body]
        elif not ready:
            stack.append((node, True))
            stack.extend((c, False) for c in reversed(operands_of(node)))
        else:
            bound[node] = name(_with_operands(node, bound))
    body = bound[function.body]
    for variable, value in reversed(lets):
        body = e.Let(variable, value, body)
    return e.Function(function.params, body, function.ret_type, function.type_params, function.attrs)


def _with_operands(node: e.Expr, bound: Mapping[e.Expr, e.Expr]) -> e.Expr:
    if isinstance(node, e.Call):
        return e.Call(bound.get(node.op, node.op), [bound[a] for a in node.args], node.attrs, node.type_args, node.span)
    if isinstance(node, e.Tuple):
        return e.Tuple([bound[f] for f in node.fields])
    if isinstance(node, e.TupleGetItem):
        return e.TupleGetItem(bound[node.tuple_value], node.index)
    if isinstance(node, e.If):
        branches = (normal_form(e.Function([], b)).body for b in (node.true_branch, node.false_branch))
        return e.If(bound[node.cond], *branches)
    if isinstance(node, Match):
        clauses = [Clause(c.lhs, normal_form(e.Function([], c.rhs)).body) for c in node.clauses]
        return Match(bound[node.data], clauses, node.complete)
    if isinstance(node, e.RefCreate):
        return e.RefCreate(bound[node.value])
    if isinstance(node, e.RefRead):
        return e.RefRead(bound[node.ref])
    assert isinstance(node, e.RefWrite)
    return e.RefWrite(bound[node.ref], bound[node.value])


def __getattr__(name: str) -> Any:
    if not name.startswith("_"):
        try:
            found = _constructor(name)
        except AttributeError:
            raise not_bridged(f"relay.transform.{name}", __dir__()) from None
        globals()[name] = found
        return found
    raise AttributeError(name)


def __dir__() -> list[str]:
    return sorted({*__all__, *ours.constructors()})


__all__ = [
    "ChangeBatch", "ConvertLayout", "FirstOrderGradient", "InferType", "LayoutConfig", "MergeComposite", "Operation",
    "Pass", "PassContext", "Sequential", "ToANormalForm", "ToBasicBlockNormalForm", "ToGraphNormalForm",
    "function_pass", "gradient", "module_pass", "recast",
]  # fmt: skip
