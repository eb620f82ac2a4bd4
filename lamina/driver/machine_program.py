"""Models that the virtual machine runs: with choices, calls, data, or extents that only arrays tell.

`lamina.compile` makes them as it makes others, and they are used as others are. Tensor ops between control flow are
compiled when shapes are seen for the first time; the object cache keeps their code.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import ModuleOp

from lamina.dialects.relay.program_state import StateVariable, state_of
from lamina.driver.compiled_kernels import CompiledKernels
from lamina.driver.relay_source import ValuePort, ports_of
from lamina.errors import InputError, LaminaError, did_you_mean
from lamina.interpreters.relay_reference import main_function
from lamina.ir.diagnostics import location_text
from lamina.passes.relay.partition.external_backends import compiler_of, is_declaration
from lamina.runtime.fork_lock import ForkLock
from lamina.runtime.given_arrays import check_names, copied_outputs
from lamina.runtime.ports import Port, check_inputs
from lamina.vm import vm

if TYPE_CHECKING:
    from lamina.driver.compilation import Source
    from lamina.driver.settings import Settings


@dataclass(frozen=True)
class MachineInfo:
    """The ports of a program for the virtual machine."""

    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]


class MachineProgram:
    """A module, its weights and what has been compiled of it so far. Calls from several threads take turns."""

    def __init__(
        self, source: Source, settings: Settings, cache: bool, placement: str = "", outputs: Sequence[Port] = ()
    ) -> None:
        given, results = ports_of(source.module)
        self.info = MachineInfo(source.inputs or given, tuple(outputs) or results)
        self.settings = settings
        self.module = source.module
        self.placed = placement
        """The report of what external backends took of functions that were partitioned before."""
        self.store = source.params
        self.label = source.label
        self.threads = settings.target.threads
        self.kernels = CompiledKernels(self.store, settings.attr, settings.context, cache, settings.sanitize)
        self.machine = vm.VirtualMachine(self.module, self.kernels)
        self._lock = ForkLock()

    def run(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """One run. A tensor is an array, a tuple a tuple, what a constructor makes a `lamina.vm.vm.AdtValue`.

        Raises InputError for what does not fit, and where the program does wrong: with the place in its text.
        """
        names = [p.name for p in self.info.inputs]
        for name in inputs:
            if name not in names:
                hint = did_you_mean(name, names) or f"it has {', '.join(names)}"
                raise InputError("the model has no such input", where=f"input {name!r}", hint=hint)
        values: list[Any] = []
        for p in self.info.inputs:
            if not isinstance(p, ValuePort):
                values.extend(check_inputs([p], {p.name: inputs[p.name]} if p.name in inputs else {}))
            elif p.name in inputs:
                values.append(inputs[p.name])
            else:
                raise InputError(f"missing; expected {p.describe()}", where=f"input {p.name!r}")
        try:
            with self._lock:
                results = self.machine.run(values, names=names)
        except LaminaError as e:
            if e.op is not None and not e.where:
                e.where = location_text(e.op) or self.label
            raise
        return {p.name: r for p, r in zip(self.info.outputs, results, strict=True)}

    def run_out(self, inputs: Mapping[str, Any], out: Mapping[str, Any]) -> dict[str, Any]:
        """The same, with the results of `out` in its arrays."""
        check_names(self.info.outputs, out)
        return copied_outputs(self.run(inputs), out)

    def close(self) -> None:
        """End the threads of its parts; the next run starts others."""
        with self._lock:
            self.kernels.close()

    def compile_ahead(self, module: ModuleOp) -> None:
        """Compile the tensor ops of a copy of the module for all sizes, and for shapes that were met one by one."""
        with self._lock:
            met = [s.types for s in self.machine.segments()]
            for segment, types in zip(vm.VirtualMachine(module, self.kernels).segments(), met, strict=True):
                known = segment.static_types()
                if known is None:
                    self.kernels.prepare_for_all(segment)
                for t in (known,) if known is not None else types:
                    try:
                        self.kernels.prepare(segment, t)
                    except InputError:
                        continue  # what declares a wrong type fails when it is run, if ever

    def placement(self) -> str:
        """The report of what external backends took of the parts that have been compiled."""
        found = [self.placed, *(p.description.get("placement", "") for p in self.kernels.stored.values())]
        return "\n".join(text for text in found if text)

    def external_compilers(self) -> list[str]:
        """The backends of functions that were partitioned before."""
        return [compiler_of(op) or "" for op in self.module.body.block.ops if is_declaration(op)]

    def state(self) -> list[StateVariable]:
        """The values that the program keeps."""
        return state_of(main_function(self.module))

    def describe(self) -> str:
        """Text in the place of a number of kernels."""
        return "run by the machine"
