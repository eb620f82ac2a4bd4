"""`relay.build` and `relay.create_executor`: our compiler on TVM's modules."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lamina.compat.tvm.applied_records import records_file
from lamina.compat.tvm.composite_targets import compile_target
from lamina.compat.tvm.devices import Device, cpu
from lamina.compat.tvm.global_functions import list_global_func_names
from lamina.compat.tvm.instrument import weights_from
from lamina.compat.tvm.ir_module import IRModule
from lamina.compat.tvm.nd import as_ndarray
from lamina.compat.tvm.relay.backend import Executor as HowToRun
from lamina.compat.tvm.relay.backend import Runtime
from lamina.compat.tvm.relay.backend.interpreter import Constructors, fitted, wrapped
from lamina.compat.tvm.relay.expr_functor import bind
from lamina.compat.tvm.relay.graph_program import GraphExecutorFactoryModule, GraphProgram
from lamina.driver.api import exportable
from lamina.driver.model import Model, Origin
from lamina.driver.settings import Settings
from lamina.errors import InputError, UnsupportedError, UsageError, did_you_mean
from lamina.frontends.tvm_text import expr as e
from lamina.tensor.target import runs_here

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from lamina.dialects.relay.params import ParamStore
    from lamina.dialects.target import TargetAttr
    from lamina.driver.exportable import ExportableProgram
    from lamina.transform import PassContext


def bind_params_by_name(function: e.Function, params: Mapping[str, Any] | None) -> e.Function:
    """The function with constants for the parameters that have these names; names of no parameter are left out."""
    by_name: dict[str, e.Var] = {}
    for p in function.params:
        if p.name_hint in by_name and p.name_hint in (params or {}):
            raise InputError(f"two parameters are called {p.name_hint!r}")
        by_name[p.name_hint] = p
    found = {by_name[n]: e.Constant(as_ndarray(v)) for n, v in (params or {}).items() if n in by_name}
    return bind(function, found) if found else function


def build(
    ir_mod: Any,
    target: Any = None,
    target_host: Any = None,
    executor: Any = None,
    runtime: Any = None,
    workspace_memory_pools: Any = None,
    constant_memory_pools: Any = None,
    params: Mapping[str, Any] | None = None,
    mod_name: str = "default",
) -> GraphExecutorFactoryModule:
    """Compile a module (or a function) for this machine; `params` are weights by the names of parameters of `main`.

    With a target of another machine, `llvm -mtriple=aarch64-linux-gnu`, the library can be exported and does not run.

    Before `llvm` the target may name external compilers, which take what they can: `openblas, llvm`.

    The current PassContext says which graph passes run; its level is 2 unless another one is entered. Within
    `autotvm.apply_history_best` kernels have the schedules of its log. Raises LaminaError.
    """
    import lamina
    from lamina.transform import PassContext

    for given, kind in ((executor, HowToRun), (runtime, Runtime)):
        if given is not None:
            kind(str(given))
    machine = compile_target(target, elsewhere=True)
    mod = ir_mod if isinstance(ir_mod, IRModule) else IRModule.from_expr(ir_mod)
    _check_codegens(mod)
    bound = with_params(mod, params)
    model = model_of(bound, mod_name)
    with weights_from(model.params):
        how: dict[str, Any] = {"opt_level": PassContext.current(), "records": records_file()}
        executable = lamina.compile(model, machine, **how) if runs_here(machine) else _elsewhere(model, machine, how)
    return GraphExecutorFactoryModule(executable, mod, params or {}, mod_name)


def _elsewhere(model: Model, machine: TargetAttr, how: Mapping[str, Any]) -> ExportableProgram:
    """A program for another machine."""
    found = exportable(model, Settings.of(machine, **how))
    if found is None:
        what = (
            f"this model has no kernels in a fixed order of known extents, as a library for {machine.triple.data} has"
        )
        raise UnsupportedError(what, hint="build it for this machine")
    return found


def _check_codegens(mod: IRModule) -> None:
    """Raise UnsupportedError for regions of a compiler that the program has registered as `relay.ext.<name>`."""
    written = [n.removeprefix("relay.ext.") for n in list_global_func_names() if n.startswith("relay.ext.")]
    for function in mod.functions.values() if written else ():
        name = function.attrs.get("Compiler")
        if name in written:
            raise UnsupportedError(
                f"the function relay.ext.{name} gives modules of TVM's, which are not linked here",
                hint="write a backend (backends/byoc), or remove the function: then its regions are compiled here",
            )


def optimize(mod: Any, target: Any = None, params: Mapping[str, Any] | None = None) -> tuple[IRModule, dict[str, Any]]:
    """The module as the graph passes leave it, and the parameters."""
    from lamina.transform import PassContext

    bound = with_params(mod if isinstance(mod, IRModule) else IRModule.from_expr(mod), params)
    made, store = optimized(bound, compile_target(target, elsewhere=True), PassContext.current())
    return IRModule.of_ir(made, store, bound), dict(params or {})


def optimized(mod: IRModule, machine: TargetAttr, context: PassContext) -> tuple[ModuleOp, ParamStore]:
    """A module of our IR after the graph passes for a target, and its weights."""
    from lamina.dialects.target import TARGET
    from lamina.driver.pipelines import CODEGEN, Pipeline
    from lamina.ir.context import LaminaContext

    module, store = mod.ir()
    ctx = LaminaContext()
    ctx.params = store
    changed = module.clone()
    changed.attributes[TARGET] = machine
    with weights_from(store):
        pipeline = Pipeline(context, target=machine)
        for p in pipeline.graph:
            if p.name != CODEGEN:  # the functions of external compilers are still to be seen
                pipeline.run_pass(p, changed, ctx)
    return changed, store


def with_params(mod: IRModule, params: Mapping[str, Any] | None) -> IRModule:
    """The module with constants for parameters of `main`."""
    if not params:
        return mod
    made = IRModule(mod.functions, mod.type_definitions)
    main = made.get_global_var("main")
    function = bind_params_by_name(mod[main], params)
    if function is mod[main]:
        return mod
    made[main] = function
    return made


def model_of(mod: IRModule, label: str = "main") -> Model:
    """A module as our compiler takes it. Raises InputError where it has no `main`."""
    from lamina.driver.relay_source import of_module

    module, store = mod.ir()
    program = of_module(module.clone(), store, label)
    return Model(Origin(b"", {}, None), label, program.inputs, program.outputs, {}, program.module, store)


class Executor:
    """Evaluates expressions and functions of a module by our machine, control flow included."""

    def __init__(self, mod: IRModule | None, device: Device, target: Any, params: Mapping[str, Any] | None) -> None:
        self.mod = mod
        self.device = device
        self.target = target
        self.params = params

    def evaluate(self, expr: Any = None, binds: Mapping[Any, Any] | None = None) -> Any:
        """A Python function for a function, the value for another expression.

        Values are NDArrays, tuples as lists of them.
        """
        mod = self.mod or IRModule()
        if expr is None:
            expr = mod["main"]
        expr = e.as_expr(expr)
        if isinstance(expr, e.GlobalVar):
            expr = mod[expr]
        if binds:
            expr = bind(expr, {k: v if isinstance(v, e.Expr) else e.const(as_ndarray(v)) for k, v in binds.items()})
        if not isinstance(expr, e.Function):
            return self._runner(e.Function([], expr))(())
        function = bind_params_by_name(expr, self.params)
        run = self._runner(function)
        names = [p.name_hint for p in function.params]

        def call(*args: Any, **kwargs: Any) -> Any:
            given = list(args)
            for name in names[len(given) :]:
                if name not in kwargs:
                    raise UsageError(f"the argument {name!r} is missing", hint=f"the function takes {', '.join(names)}")
                given.append(kwargs.pop(name))
            if kwargs or len(given) > len(names):
                extra = next(iter(kwargs), f"{len(given)} arguments")
                hint = did_you_mean(str(extra), names) or f"the function takes {', '.join(names) or 'nothing'}"
                raise UsageError(f"{extra!r} is no argument", hint=hint)
            return run(given)

        return call

    def _module(self, function: e.Function) -> tuple[Any, Any]:
        others = {
            g: f for g, f in (self.mod.functions if self.mod is not None else {}).items() if g.name_hint != "main"
        }
        main = next((g for g in (self.mod.functions if self.mod is not None else {}) if g.name_hint == "main"), None)
        types = self.mod.type_definitions if self.mod is not None else {}
        return IRModule({**others, main or e.GlobalVar("main"): function}, types).ir()

    def _runner(self, function: e.Function) -> Callable[[Sequence[Any]], Any]:
        """Return a function that runs `function` as the module's `main`.

        Numbers of other dtypes are cast, as `set_input` does.
        """
        from xdsl.dialects.func import FuncOp

        from lamina.driver.compiled_kernels import CompiledKernels
        from lamina.vm.vm import VirtualMachine

        module, store = self._module(function)
        main = next(op for op in module.body.block.ops if isinstance(op, FuncOp) and op.sym_name.data == "main")
        types = list(main.function_type.inputs)
        known = Constructors(self.mod.type_definitions if self.mod is not None else {})
        machine = VirtualMachine(module, CompiledKernels(store))

        def run(args: Sequence[Any]) -> Any:
            found = machine.run([fitted(a, t) for a, t in zip(args, types, strict=True)])
            return wrapped(found[0] if len(found) == 1 else tuple(found), known, self.device)

        return run


def create_executor(
    kind: str = "debug", mod: Any = None, device: Device | None = None, target: Any = "llvm", params: Any = None
) -> Executor:
    """An executor: `debug`, `graph`, `vm` and `aot` are one, which runs control flow and functions as values."""
    kinds = ("debug", "graph", "vm", "aot")
    if kind not in kinds:
        raise UsageError(
            f"no executor {kind!r}", hint=did_you_mean(kind, list(kinds)) or f"there are {', '.join(kinds)}"
        )
    compile_target(target)
    found = mod if mod is None or isinstance(mod, IRModule) else IRModule.from_expr(mod)
    return Executor(found, device or cpu(0), target, params)


__all__ = [
    "Executor", "GraphExecutorFactoryModule", "GraphProgram", "bind_params_by_name",
    "build", "create_executor", "model_of", "optimize", "with_params",
]  # fmt: skip
