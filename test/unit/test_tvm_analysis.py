"""`relay.analysis`: what it says of expressions, against what is counted by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lamina.compat import tvm
from lamina.compat.tvm import relay as _relay
from lamina.errors import InputError

relay: Any = _relay
analysis: Any = relay.analysis


def conv(x: Any, channels: int, groups: int = 1, **attrs: Any) -> Any:
    name = f"w{np.random.default_rng().integers(10**9)}"
    return relay.nn.conv2d(x, relay.var(name), channels=channels, kernel_size=(3, 3), groups=groups, **attrs)


def function(body: Any) -> Any:
    return relay.Function(analysis.free_vars(body), body)


def image(*shape: int) -> Any:
    return relay.var("x", shape=shape)


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        (lambda: conv(image(1, 4, 10, 12), 6, padding=(1, 1)), 6 * 10 * 12 * 9 * 4),
        (lambda: conv(image(2, 4, 10, 12), 8, groups=4, strides=(2, 2)), 2 * 8 * 4 * 5 * 9 * 1),
        (
            lambda: conv(image(1, 10, 12, 4), 6, data_layout="NHWC", kernel_layout="HWIO"),
            6 * 8 * 10 * 9 * 4,
        ),
        (
            lambda: relay.nn.conv2d_transpose(image(1, 4, 5, 5), relay.var("w"), channels=3, kernel_size=(3, 3)),
            3 * 7 * 7 * 9 * 4,
        ),
        (lambda: relay.nn.dense(image(5, 7), relay.var("w"), units=11), 5 * 7 * 11),
        (lambda: relay.nn.batch_matmul(image(2, 3, 4), relay.var("y", shape=(2, 5, 4))), 2 * 3 * 4 * 5),
        (lambda: relay.nn.relu(image(5, 7)), 0),
        (lambda: conv(conv(image(1, 1, 5, 5), 2), 3), 2 * 9 * 9 + 3 * 1 * 9 * 2),
    ],
)
def test_multiplications_are_counted(body: Any, wanted: int) -> None:
    assert analysis.get_total_mac_number(function(body())) == wanted


def test_layers_are_those_of_the_longest_way() -> None:
    x = image(1, 4, 20, 20)
    short, long = conv(x, 4, padding=(1, 1)), conv(conv(conv(x, 4), 4, padding=(1, 1)), 4, padding=(2, 2))
    f = function(relay.nn.relu(short + long))
    assert analysis.count_layers(f, ["nn.conv2d"]) == 3
    assert analysis.count_layers(tvm.IRModule.from_expr(f), ["nn.conv2d", "nn.relu", "add"]) == 5
    assert analysis.count_layers(f, ["nn.dense"]) == 0


def test_operators_between_dequantize_and_quantize_are_counted() -> None:
    x, s, z = relay.var("x", shape=(1, 4), dtype="int8"), relay.const(0.5), relay.const(0)
    real = relay.qnn.op.dequantize(x, s, z)
    inner = relay.nn.relu(relay.nn.relu(real) + relay.const(1.0))
    integer = relay.qnn.op.quantize(inner, s, z)
    mixed = relay.qnn.op.quantize(relay.exp(real) + relay.var("y", shape=(1, 4)), s, z)
    mod = tvm.IRModule.from_expr(relay.Tuple([integer, mixed]))
    assert analysis.list_fake_quantized_op_freqs(mod) == {"nn.relu": 2, "add": 1}
    assert analysis.list_op_freqs(mod)["exp"] == 1


def test_weights_behind_transpositions_are_found() -> None:
    x, w, v = image(2, 3), relay.var("w", shape=(3, 4)), relay.var("v", shape=(4, 4))
    y = relay.nn.dense(relay.nn.dense(x, relay.transpose(w)), v)
    assert analysis.search_fc_transpose(function(y)) == ["w"]


def test_features_are_those_of_tvm() -> None:
    feature = analysis.Feature
    x, f, n = image(2), relay.var("f"), relay.var("n", shape=(), dtype="int32")
    plain = relay.Function([x], relay.exp(x))
    assert analysis.detect_feature(plain) == {feature.fFunction, feature.fVar, feature.fCall, feature.fOp}
    y = relay.exp(x)
    assert feature.fGraph in analysis.detect_feature(y + y)
    again = relay.Function([n], relay.If(n > relay.const(3), n, f(n + relay.const(1))), relay.scalar_type("int32"))
    found = analysis.detect_feature(relay.Let(f, again, f(relay.const(0))))
    assert {feature.fLet, feature.fLetRec, feature.fIf, feature.fConstant} <= found
    prelude = relay.prelude.Prelude()
    assert {feature.fMatch, feature.fConstructor, feature.fGlobalVar} <= analysis.detect_feature(prelude.mod)
    assert feature.fMatch == 14 and feature.fLetRec == 16


def test_kinds_of_types_are_told() -> None:
    kind = relay.TypeKind
    a, t = relay.TypeVar("a"), relay.TensorType((1, 2))
    for type_ in (t, relay.TupleType([t, a]), relay.FuncType([t], a, [a]), relay.RefType(t), a):
        assert analysis.check_kind(type_) == kind.Type
    assert analysis.check_kind(relay.TypeVar("n", kind.ShapeVar)) == kind.ShapeVar
    mod = relay.prelude.Prelude().mod
    header = mod.get_global_type_var("List")
    assert analysis.check_kind(header) == kind.AdtHandle and analysis.check_kind(mod[header], mod) == kind.TypeData
    assert analysis.check_kind(header(t), mod) == kind.Type
    for wrong, said in (
        (relay.TupleType([t, header]), "is List, which is no type of values"),
        (relay.FuncType([relay.TypeVar("n", kind.ShapeVar)], t), "no type of values"),
        (header(t, t), "1 type parameters, 2 are given"),
        (relay.GlobalTypeVar("Set")(t), "no data type Set"),
        (relay.TypeCall(a, [t]), "a takes no type arguments"),
        (3, "int is no type"),
    ):
        with pytest.raises(InputError, match=said):
            analysis.check_kind(wrong, mod)


def test_type_parameters_are_free_or_bound() -> None:
    a, b = relay.TypeVar("a"), relay.TypeVar("b")
    x, y = relay.Var("x", a), relay.Var("y", relay.TupleType([b, a]))
    f = relay.Function([x, y], x, a, [a])
    names = [[v.name_hint for v in found(f)] for found in
             (analysis.free_type_vars, analysis.bound_type_vars, analysis.all_type_vars)]  # fmt: skip
    assert names == [["b"], ["a"], ["a", "b"]]
    assert analysis.free_type_vars(relay.FuncType([a], b, [a])) == [b]


def cases(mod: Any, *texts: str) -> Any:
    clauses = " ".join(f"{t} => 0," for t in texts)
    text = f"def @f(%x: List[Option[int32]]) -> int32 {{ match? (%x) {{ {clauses} }} }}"
    return tvm.parser.parse(text, init_module=mod)["f"].body


@pytest.mark.parametrize(
    ("texts", "missing"),
    [
        (["_"], []),
        (["Nil", "Cons(_, _)"], []),
        (["Nil"], ["Cons(_, _)"]),
        (["Cons(Some(%a), %r)"], ["Cons(None, _)", "Nil"]),
        (["Cons(Some(_), Nil)", "Nil", "Cons(None, _)"], ["Cons(Some(_), Cons(_, _))"]),
    ],
)
def test_values_that_no_clause_fits_are_named(texts: list[str], missing: list[str]) -> None:
    mod = relay.prelude.Prelude().mod
    match = cases(mod, *texts)
    found = [shown(p) for p in analysis.unmatched_cases(match, mod)]
    assert sorted(found) == sorted(missing)
    # With clauses for them nothing is missing.
    assert analysis.unmatched_cases(cases(mod, *texts, *missing), mod) == []


def shown(pattern: Any) -> str:
    if isinstance(pattern, relay.PatternWildcard):
        return "_"
    inner = ", ".join(map(shown, pattern.patterns))
    return pattern.constructor.name_hint + (f"({inner})" if inner else "")


def test_fused_functions_and_inner_calls_are_taken_out() -> None:
    x = image(2, 3)
    y = relay.exp(relay.nn.relu(x) + relay.const(1.0))
    mod = tvm.IRModule.from_expr(function(relay.nn.dense(y, relay.var("w"), units=4)))
    fused = analysis.extract_fused_functions(relay.transform.FuseOps(2)(mod))
    assert sorted(n.rpartition("_")[0] for n in fused) == ["fused_nn.dense", "fused_nn.relu_add_exp"]
    part = analysis.extract_intermdeiate_expr(mod, 1)
    data = np.array([[-1, 2, 3], [4, -5, 6]], "float32")
    assert np.array_equal(relay.create_executor(mod=part).evaluate()(data).numpy(), np.maximum(data, 0) + 1)
    with pytest.raises(InputError, match="there is no call 9; there are 4"):
        analysis.extract_intermdeiate_expr(mod, 9)


def test_a_module_that_is_not_fused_is_fused_to_take_its_functions_out() -> None:
    weight = [relay.const(np.ones(3, "float32"))] * 4
    normal = relay.nn.batch_norm(image(2, 3), *weight)[0]
    mod = tvm.IRModule.from_expr(function(relay.nn.dense(relay.nn.relu(normal), relay.var("w"), units=4)))
    fused = analysis.extract_fused_functions(mod)
    assert [n.rpartition("_")[0] for n in fused if "nn.relu" in n] and "nn.batch_norm" not in "".join(fused)
    assert all(f.attrs["Primitive"] == 1 for f in fused.values())
    assert relay.analysis.list_op_freqs(mod)["nn.batch_norm"] == 1


def test_what_goes_to_an_external_compiler_is_recorded() -> None:
    x = image(2, 3)
    out = relay.nn.relu(relay.exp(relay.nn.dense(x, relay.var("w", shape=(4, 3)))))
    passes = [relay.transform.AnnotateTarget("openblas"), relay.transform.PartitionGraph()]
    mod = tvm.transform.Sequential(passes)(tvm.IRModule.from_expr(out))
    rng = np.random.default_rng(0)
    data = {n: rng.standard_normal(s).astype("float32") for n, s in (("x", (2, 3)), ("w", (4, 3)))}
    ((name, recorded),) = analysis.get_calibration_data(mod, data).items()
    assert name.name_hint == "tvmgen_default_openblas_main_0"
    assert sorted(i.shape for i in recorded["inputs"]) == [(2, 3), (4, 3)]
    (found,) = recorded["outputs"]
    np.testing.assert_allclose(found.numpy(), data["x"] @ data["w"].T, rtol=1e-5)
