"""ONNX's own test cases for single operators: what is imported computes, by the numpy oracles, what ONNX expects.

The conformance run (`make conformance`) compiles the same cases; here the graph alone is judged, without a compiler.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from onnx.backend.test.runner import BackendIsNotSupposedToImplementIt

from lamina.compat.onnx_backend import LaminaBackend, LaminaRep, Runs
from lamina.errors import LaminaError
from lamina.frontends.onnx import ImportedModel
from lamina.frontends.onnx.registry import converters
from lamina.runtime.relay_reference import main_function, run_relay
from lamina.tools.conformance.cases import all_cases
from lamina.tools.conformance.workers import compare

# Stored results that are rounded to four digits, or to steps of bfloat16 that differ by the order of steps.
ROUNDED = {"test_averagepool_2d_ceil_last_window_starts_on_pad", "test_celu_bfloat16", "test_celu_bfloat16_expanded"}
# The oracles take seconds for each, the compiler does not.
SLOW_ORACLE = ("GridSample",)


class Oracle(LaminaRep):
    """Runs the imported graph on numpy."""

    def build(self, imported: ImportedModel) -> Runs:
        imported.module.verify()

        def run(arrays: Mapping[str, Any]) -> dict[str, Any]:
            results = run_relay(
                main_function(imported.module), [arrays[p.name] for p in imported.inputs], imported.store
            )
            return dict(zip([p.name for p in imported.outputs], results, strict=True))

        return run


def test_operators_compute_what_onnx_expects() -> None:
    outcome: Counter[str] = Counter()
    wrong: list[str] = []
    for case in all_cases():
        if case.model is None or case.operator in SLOW_ORACLE:
            continue
        try:
            LaminaBackend.prepare(case.model)
            results = [list(Oracle(case.model).run(inputs)) for inputs, _ in case.sets]
        except BackendIsNotSupposedToImplementIt:
            outcome["unsupported"] += 1
            continue
        except LaminaError as e:
            wrong.append(f"{case.name}: {e}")
            continue
        try:
            for result, (_, expected) in zip(results, case.sets, strict=True):
                compare(expected, result, case)
            outcome["right"] += 1
        except AssertionError as e:
            if case.name not in ROUNDED:
                wrong.append(f"{case.name}: {e}")
    assert not wrong, "\n".join(wrong)
    assert outcome["right"] > 1_700, outcome


def test_every_converter_has_a_standard_operator() -> None:
    import onnx

    names = {(s.domain, s.name) for s in onnx.defs.get_all_schemas_with_history()}
    assert set(converters()) <= names


def test_every_attribute_of_every_version_is_read() -> None:
    """An attribute that no converter looks at would change nothing, silently."""
    import inspect
    import sys

    import onnx

    from lamina.frontends.onnx import convert_nn, legacy

    # What hints at memory, at training, or at what is known anyway.
    idle = {"consumed_inputs", "is_test", "seed", "output_sequence", "hidden_size", "kernel_shape", "sorted", "type"}
    # Strings and sparse tensors are refused with all that is not read; functions of ONNX's read the stash type.
    idle |= {"sparse_value", "value_string", "value_strings", "stash_type"}
    shared = inspect.getsource(legacy) + inspect.getsource(convert_nn) + inspect.getsource(sys.modules[SATURATION])
    missing: list[str] = []
    for schema in onnx.defs.get_all_schemas_with_history():
        convert = converters().get((schema.domain, schema.name))
        if convert is None or schema.deprecated:
            continue
        module = inspect.getmodule(convert)
        assert module is not None
        text = inspect.getsource(module) + shared
        missing += [
            f"{schema.name} {schema.since_version}: {a}"
            for a in schema.attributes
            if a not in idle and f'"{a}"' not in text
        ]
    assert not missing, missing


SATURATION = "lamina.frontends.onnx.convert_cast"
