"""A program with its inputs and weights, in which a fault is looked for: printed, run by its oracles, cut, changed."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import ModuleOp, StringAttr, TensorType
from xdsl.dialects.func import FuncOp as MainOp
from xdsl.ir import Operation, SSAValue

from lamina.debugging.entry import MAIN
from lamina.debugging.states import run_state
from lamina.debugging.subgraph import Part, body_of, live, part_of
from lamina.dialects.entry_names import argument_names, level_of
from lamina.dialects.relay.core import ConstantOp
from lamina.dialects.relay.params import ParamAttr, ParamStore
from lamina.dialects.target import TARGET
from lamina.dialects.te.ops import ParamOp
from lamina.errors import LaminaError, UsageError
from lamina.interpreters.beyond_programs import needs_machine
from lamina.ir.context import LaminaContext
from lamina.ir.printing import module_text

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

PARAMS = "lamina.params"


@dataclass
class Program:
    """A module, its inputs by name (none where only passes are looked at), and the store of its weights."""

    module: ModuleOp
    arrays: dict[str, Any]
    store: ParamStore = field(default_factory=ParamStore)
    bare: bool = False
    """Whether passes alone are looked at, so that no input needs a value."""
    computes: str = ""
    """The text of a program that computes the same, where it is known for one."""

    @property
    def main(self) -> MainOp | None:
        """`@main`; None where there are only kernels, or where it is declared."""
        for op in self.module.ops:
            if isinstance(op, MainOp) and op.sym_name.data == MAIN and op.body.blocks:
                return op
        return None

    @property
    def level(self) -> str:
        return level_of(self.module)

    def text(self) -> str:
        """The module as opt-tool prints it, without locations; weights are named."""
        return module_text(self.module)

    def params(self) -> list[ParamAttr]:
        """The weights that the module names."""
        return params_in(self.module)

    def clone(self) -> Program:
        """A copy that can be changed; arrays are shared."""
        return replace(self, module=self.module.clone(), arrays=dict(self.arrays), computes="")

    def ops(self) -> int:
        """The number of ops that compute something: those of `@main`, or of the kernels where there is none."""
        main = self.main
        if main is not None and self.level == "relay":
            return sum(1 for op in main.walk() if op.results and not isinstance(op, ConstantOp))
        return sum(1 for op in self.module.walk() if op.results and not isinstance(op, ConstantOp | ParamOp))

    def context(self) -> LaminaContext:
        """A context with the weights."""
        ctx = LaminaContext()
        ctx.params = self.store
        return ctx

    def values(self) -> dict[SSAValue, Any]:
        """Every value of `@main`: of the relay level as the oracles compute it, of te with naive loops.

        Raises LaminaError.
        """
        from lamina.interpreters.relay_reference import run_relay

        main = self.main
        assert main is not None
        args = main.body.block.args
        given = [self.arrays[n] for n in argument_names(main, args)]
        found: dict[SSAValue, Any] = dict(zip(args, given, strict=True))
        if self.level == "relay" and not needs_machine(self.module):
            run_relay(main, given, self.store, observe=found.__setitem__)
            return found
        if self.level == "relay":
            return self._values_one_by_one(found)
        results = [r for op in self.body() for r in op.results]
        whole = self.of_part(part_of(main, self.body(), results), found)
        computed = run_state(whole.module, self.context(), whole.arrays)
        return found | dict(zip(results, computed.values(), strict=True))

    def _values_one_by_one(self, found: dict[SSAValue, Any]) -> dict[SSAValue, Any]:
        """The arrays among the values of a program that the virtual machine runs, each op as a program by itself."""
        for op in self.body():
            try:
                alone = self.part([op], found, [r for r in op.results if isinstance(r.type, TensorType)])
                results = run_state(alone.module, self.context(), alone.arrays)
            except LaminaError:
                continue  # it gives no array, or reads what is none
            found.update(zip((r for r in op.results if isinstance(r.type, TensorType)), results.values(), strict=True))
        return found

    def part(
        self, kept: Collection[Operation], values: Mapping[SSAValue, Any], results: Sequence[SSAValue] | None = None
    ) -> Program:
        """The program of some ops of `@main`; what they read from others is an input with the value that it has.

        Raises UsageError where it would have no result.
        """
        main = self.main
        assert main is not None
        return self.of_part(part_of(main, kept, results), values)

    def of_part(self, part: Part, values: Mapping[SSAValue, Any]) -> Program:
        """The program of a part, with its inputs. Raises UsageError where one has no value and needs it."""
        arrays: dict[str, Any] = {}
        if not self.bare:
            if any(old not in values for old in part.arguments):
                raise UsageError("an input of the part has no value")
            names = argument_names(part.main, part.main.body.block.args)
            arrays = {name: values[old] for name, old in zip(names, part.arguments, strict=True)}
        return replace(self, module=part.module, arrays=arrays, computes="")

    def tidy(self, given: Collection[SSAValue] = ()) -> Program:
        """The same without ops that no result depends on, and inputs that nothing reads; constants `given` are inputs.

        Raises UsageError for a program without results.
        """
        main = self.main
        if main is None:
            return self
        last = main.body.block.last_op
        results = list(last.operands) if last is not None else []
        names = argument_names(main, main.body.block.args)
        args = zip(main.body.block.args, names, strict=True)
        values: dict[SSAValue, Any] = {a: self.arrays[n] for a, n in args if n in self.arrays}
        for value in given:
            assert isinstance(value.owner, ConstantOp)
            values[value] = self.store.get(value.owner.value)  # type: ignore[arg-type]
        return self.of_part(part_of(main, live(main), results, given), values)

    def body(self) -> list[Operation]:
        """The ops of `@main` that a part may leave out."""
        main = self.main
        return body_of(main) if main is not None else []

    def rename_params(self, file: str | None) -> None:
        """Say in which file the weights are, or that there is none."""
        if file is None:
            self.module.attributes.pop(PARAMS, None)
        else:
            self.module.attributes[PARAMS] = StringAttr(file)

    def with_target(self, target: Any) -> Program:
        """The same for a machine that passes can read of; None for none."""
        self.module.attributes.pop(TARGET, None)
        if target is not None:
            self.module.attributes[TARGET] = target
        return self


def params_in(module: ModuleOp) -> list[ParamAttr]:
    """The weights that constants of any level name, each once."""
    found: dict[ParamAttr, None] = {}
    for op in module.walk():
        for attr in (*op.properties.values(), *op.attributes.values()):
            if isinstance(attr, ParamAttr):
                found[attr] = None
    return list(found)
