"""ONNX's own test cases for single operators: what is imported computes, by the numpy oracles, what ONNX expects.

The conformance run (`make conformance`) compiles the same cases; here the graph alone is judged, without a compiler.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping
from typing import Any, cast

import onnx
import pytest
from onnx import ModelProto, version_converter
from onnx.backend.test.runner import BackendIsNotSupposedToImplementIt

from lamina.compat.onnx_backend import LaminaBackend, LaminaRep
from lamina.driver.compiled_kernels import evaluate
from lamina.driver.programs_by_shape import Runs
from lamina.errors import LaminaError
from lamina.frontends.onnx import ImportedModel
from lamina.frontends.onnx.registry import converters, declarations
from lamina.interpreters.beyond_programs import needs_machine
from lamina.interpreters.relay_reference import main_function, run_relay
from lamina.vm.vm import ReferenceKernels
from tools.conformance.cases import Case, all_cases
from tools.conformance.workers import compare

pytestmark = pytest.mark.slow

# Stored results that are rounded to four digits, or to steps of bfloat16 that differ by the order of steps.
ROUNDED = {"test_averagepool_2d_ceil_last_window_starts_on_pad", "test_celu_bfloat16", "test_celu_bfloat16_expanded"}
# The oracles take seconds for each, the compiler does not.
SLOW_ORACLE = ("GridSample",)


class Oracle(LaminaRep):
    """Runs the imported graph on numpy."""

    def build(self, imported: ImportedModel) -> Runs:
        imported.module.verify()

        def run(arrays: Mapping[str, Any]) -> dict[str, Any]:
            given = [arrays[p.name] for p in imported.inputs]
            if needs_machine(imported.module):
                results = evaluate(imported.module, given, kernels=ReferenceKernels(imported.store))
            else:
                results = run_relay(main_function(imported.module), given, imported.store)
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


@pytest.mark.slow
def test_older_versions_of_operators_compute_the_same() -> None:
    """Cases that onnx's version converter can write in an older operator set, a sample of them."""
    outcome: Counter[str] = Counter()
    wrong: list[str] = []
    cases = [c for c in all_cases() if c.kind == "node" and c.operator not in NEWER_MEANING]
    for case in random.Random(0).sample(cases, 150):
        versions: set[int] = set()
        for opset in (1, 6, 8, 10, 12, 16):
            version = since_version(case.operator, opset)
            if version is None or version in versions:
                continue
            model = in_older_opset(case, opset)
            if model is None:
                continue
            versions.add(version)
            try:
                LaminaBackend.prepare(model)
                results = [list(Oracle(model).run(inputs)) for inputs, _ in case.sets]
                for result, (_, expected) in zip(results, case.sets, strict=True):
                    compare(expected, result, case)
                outcome["right"] += 1
            except BackendIsNotSupposedToImplementIt:
                outcome["unsupported"] += 1
            except (AssertionError, LaminaError) as e:
                wrong.append(f"{case.name} in opset {opset}: {e}")
    assert not wrong, "\n".join(wrong)
    assert outcome["right"] > 75, outcome


# What the version converter changes without keeping the meaning, and what it takes long for.
NEWER_MEANING = {"Softmax", "LogSoftmax", "Scan", "Attention", "Cast", "CastLike", "SoftmaxCrossEntropyLoss"}


def since_version(operator: str, opset: int) -> int | None:
    """Which version of an operator an operator set has, None for one without it."""
    try:
        schema = onnx.defs.get_schema(operator, opset)
    except onnx.defs.SchemaError:
        return None
    return None if schema.deprecated else schema.since_version


def in_older_opset(case: Case, opset: int) -> ModelProto | None:
    """The case's model in an older operator set, None where the version converter cannot write it."""
    assert case.model is not None
    try:
        model = version_converter.convert_version(case.model, opset)
        cast(Any, onnx.checker).check_model(model)
        return model
    except Exception:
        # The converter has errors of many types, which say that it has no way back.
        return None


def test_every_converter_has_a_standard_operator() -> None:
    names = {(s.domain, s.name) for s in onnx.defs.get_all_schemas_with_history()}
    # onnxruntime's are declared by us; test_contributed.py compares them with its schemas.
    assert set(converters()) - set(declarations()) <= names


def test_every_attribute_of_every_version_is_read() -> None:
    """An attribute that no converter looks at would change nothing, silently."""
    import inspect

    from lamina.frontends.onnx import convert_cast, convert_nn, legacy

    # What hints at memory, at training, or at what is known anyway.
    idle = {"consumed_inputs", "is_test", "seed", "output_sequence", "hidden_size", "kernel_shape", "sorted", "type"}
    # Sparse tensors are refused with all that is not read; functions of ONNX's read the stash type.
    idle |= {"sparse_value", "stash_type", "nodes_hitrates", "nodes_hitrates_as_tensor"}
    shared = "".join(map(inspect.getsource, (convert_cast, convert_nn, legacy)))
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
