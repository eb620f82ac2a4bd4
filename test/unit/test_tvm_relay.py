"""`tvm.relay` as programs use it: expressions, types, control flow, walking, comparing, building, running."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import lamina.compat.tvm as tvm
from lamina.compat.tvm import relay as _relay
from lamina.compat.tvm.contrib import graph_executor
from lamina.compat.tvm.ir import IRModule, assert_structural_equal, structural_equal, structural_hash
from lamina.errors import InputError, LaminaError, UsageError

pytestmark = pytest.mark.slow

relay: Any = _relay


def evaluate(expr: Any, *args: Any) -> Any:
    """The value of an expression, or of a function on arrays."""
    found = relay.create_executor("vm").evaluate(expr)
    return found(*args) if callable(found) else found


# -- operators ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "signature"),
    [
        ("nn.conv2d", "(data, weight, strides=(1, 1), padding=(0, 0), dilation=(1, 1), groups=1, channels=None, "
         "kernel_size=None, data_layout='NCHW', kernel_layout='OIHW', out_layout='', out_dtype='')"),
        ("nn.max_pool2d", "(data, pool_size=(1, 1), strides=(1, 1), dilation=(1, 1), padding=(0, 0), layout='NCHW', "
         "out_layout='', ceil_mode=False)"),
        ("nn.dense", "(data, weight, units=None, out_dtype='')"),
        ("gather", "(data, axis, indices)"),
        ("sum", "(data, axis=None, keepdims=False, exclude=False)"),
        ("argmax", "(data, axis=None, keepdims=False, exclude=False, select_last_index=False)"),
        ("clip", "(a, a_min, a_max)"),
        ("where", "(condition, x, y)"),
        ("split", "(data, indices_or_sections, axis=0)"),
        ("qnn.op.requantize", "(data, input_scale, input_zero_point, output_scale, output_zero_point, axis=-1, "
         "rounding='None', compute_dtype='None', out_dtype='int8')"),
        ("image.resize2d", "(data, size, roi=(0.0, 0.0, 0.0, 0.0), layout='NCHW', method='linear', "
         "coordinate_transformation_mode='half_pixel', rounding_method='', cubic_alpha=-0.5, cubic_exclude=0, "
         "extrapolation_value=0.0, out_dtype='')"),
    ],
)  # fmt: skip
def test_functions_have_tvms_signatures(name: str, signature: str) -> None:
    function: Any = relay
    for part in name.split("."):
        function = getattr(function, part)
    assert str(inspect.signature(function)) == signature


X34 = np.arange(12, dtype="float32").reshape(3, 4) - 5


BUILT: list[tuple[Callable[[Any], Any], Any]] = [
        (lambda x: x + relay.const(2.0), X34 + 2),
        (lambda x: 1.0 - x * 2, 1 - X34 * 2),
        (lambda x: -x / relay.const(4.0), -X34 / 4),
        (lambda x: (x > relay.const(0.0)).astype("int32"), (X34 > 0).astype("int32")),
        (lambda x: relay.sum(x, axis=1, keepdims=True), X34.sum(1, keepdims=True)),
        (lambda x: relay.transpose(x), X34.T),
        (lambda x: relay.transpose(x, axes=[1, 0]), X34.T),
        (lambda x: relay.reshape(x, (2, -1)), X34.reshape(2, -1)),
        (lambda x: relay.reshape(x, relay.const([6, 2], "int64")), X34.reshape(6, 2)),
        (lambda x: relay.split(x, 2, axis=1)[1], X34[:, 2:]),
        (lambda x: relay.concatenate([*relay.split(x, [1, 3], axis=1)], axis=1), X34),
        (lambda x: relay.concatenate(relay.split(x, 2, axis=1).astuple(), axis=0),
         np.concatenate([X34[:, :2], X34[:, 2:]])),
        (lambda x: relay.nn.pad(x, ((1, 0), (0, 2)), 7.0), np.pad(X34, ((1, 0), (0, 2)), constant_values=7)),
        (lambda x: relay.strided_slice(x, [0, 1], [3, 4], [1, 2]), X34[:, 1:4:2]),
        (lambda x: relay.take(x, relay.const([2, 0], "int32"), axis=1), X34[:, [2, 0]]),
        (lambda x: relay.variance(x, axis=1), X34.var(1)),
        (lambda x: relay.std(x, axis=0, keepdims=True), X34.std(0, keepdims=True)),
        (lambda x: relay.mean_std(x, axis=0)[0], X34.mean(0)),
        (lambda x: relay.logsumexp(x, axis=1), np.log(np.exp(X34).sum(1))),
        (lambda x: relay.arange(relay.const(1), relay.const(9), relay.const(3), dtype="int32"), np.arange(1, 9, 3)),
        (lambda x: relay.one_hot(relay.const([1, 0], "int32"), 1.0, 0.0, 3, -1, "float32"), np.eye(3)[[1, 0]]),
        (lambda x: relay.topk(x, k=2, axis=1)[0], -np.sort(-X34, 1)[:, :2]),
        (lambda x: relay.full(relay.const(3.0), (2, 2)), np.full((2, 2), 3.0)),
        (lambda x: relay.zeros((2,), "int32"), np.zeros(2, "int32")),
        (lambda x: relay.nn.dropout(x), X34),
        (lambda x: relay.op.get("exp")(x), np.exp(X34)),
        (lambda x: relay.squeeze(relay.expand_dims(x, axis=0), axis=[0]), X34),
]  # fmt: skip


@pytest.mark.parametrize(("build", "wanted"), BUILT)
def test_operators_compute_what_tvm_says(build: Callable[[Any], Any], wanted: Any) -> None:
    x = relay.var("x", shape=(3, 4))
    found = evaluate(relay.Function([x], build(x)), X34).numpy()
    assert found.shape == np.shape(wanted)
    np.testing.assert_allclose(found, wanted, rtol=1e-5)


def test_weights_get_the_types_that_their_operators_say() -> None:
    data = relay.var("data", shape=(2, 8, 9, 9))
    conv = relay.nn.conv2d(data, relay.var("w"), channels=6, kernel_size=(3, 2), groups=2)
    norm = relay.nn.batch_norm(conv, *(relay.var(n) for n in ("gamma", "beta", "mean", "var")))[0]
    back = relay.nn.conv2d_transpose(norm, relay.var("t"), channels=5, kernel_size=3)
    out = relay.nn.bias_add(relay.nn.dense(relay.nn.batch_flatten(back), relay.var("d"), units=7), relay.var("b"))
    main = IRModule.from_expr(out)
    main.ir()
    types = {p.name_hint: p.checked_type.shape for p in main["main"].params}
    assert types["w"] == (6, 4, 3, 2)
    assert types["gamma"] == types["beta"] == types["mean"] == types["var"] == (6,)
    assert types["t"] == (6, 5, 3, 3)
    assert types["d"] == (7, 5 * 9 * 10) and types["b"] == (7,)


def test_a_batch_norm_gives_its_statistics_too() -> None:
    x = relay.var("x", shape=(1, 2, 3, 3))
    stats = [relay.const(np.array(v, "float32")) for v in ([1.0, 2.0], [0.5, 0.0], [3.0, 4.0], [1.0, 0.25])]
    result, mean, variance = relay.nn.batch_norm(x, *stats)
    found = evaluate(relay.Function([x], relay.Tuple([result, mean, variance])), np.ones((1, 2, 3, 3), "float32"))
    np.testing.assert_allclose(found[0].numpy()[0, :, 0, 0], [(1 - 3) + 0.5, 2 * (1 - 4) / 0.5], rtol=1e-4)
    assert found[1].numpy().tolist() == [3, 4] and found[2].numpy().tolist() == [1, 0.25]


# -- control flow and functions ---------------------------------------------------------------------------


def scalar(name: str) -> Any:
    return relay.var(name, shape=(), dtype="int32")


def test_a_global_function_calls_itself() -> None:
    i, total = scalar("i"), scalar("total")
    loop = relay.GlobalVar("sum_up")
    body = relay.If(relay.equal(i, relay.const(0)), total, loop(relay.subtract(i, relay.const(1)), relay.add(i, total)))
    mod = IRModule({loop: relay.Function([i, total], body, relay.TensorType((), "int32"))})
    n = scalar("n")
    mod["main"] = relay.Function([n], loop(n, relay.const(0)))
    run = relay.create_executor("vm", mod).evaluate()
    assert run(10).numpy() == 55 and run(0).numpy() == 0
    assert structural_equal(tvm.parser.fromtext(mod.astext()), mod)


def test_scopes_are_written_one_after_the_other() -> None:
    i, total = scalar("i"), scalar("total")
    loop, sb = relay.GlobalVar("sum_up"), relay.ScopeBuilder()
    with sb.if_scope(relay.equal(i, relay.const(0))):
        sb.ret(total)
    with sb.else_scope():
        rest = sb.let("rest", i - relay.const(1))
        sb.ret(loop(rest, relay.add(total, i)))
    mod = IRModule({loop: relay.Function([i, total], sb.get(), relay.TensorType((), "int32"))})
    mod["main"] = relay.Function([], loop(relay.const(4), relay.const(0)))
    assert relay.create_executor("vm", mod).evaluate()().numpy() == 10
    with pytest.raises(UsageError, match="already"):
        sb.ret(i)
    with pytest.raises(UsageError, match="gives no value; sb.ret"):
        relay.ScopeBuilder().get()


def test_a_local_function_calls_itself_and_keeps_what_it_captured() -> None:
    step, start, n = scalar("step"), scalar("start"), scalar("n")
    again = relay.var("again")
    body = relay.If(n < relay.const(20), again(n + step), n)
    function = relay.Function([n], body, relay.TensorType((), "int32"))
    program = relay.Function([step, start], relay.Let(again, function, again(start)))
    assert evaluate(program, 7, 3).numpy() == 24


def test_a_value_of_both_branches_is_computed_once_before_them() -> None:
    x, c = relay.var("x", shape=(2,)), relay.var("c", shape=(), dtype="bool")
    shared = relay.exp(x)
    program = relay.Function([c, x], relay.If(c, shared + relay.const(1.0), shared * shared))
    module, _ = IRModule.from_expr(program).ir()
    assert str(module).count("relay.exp") == 1
    for flag in (True, False):
        values = np.exp(np.array([1, 2], "float32"))
        found = evaluate(program, np.array(flag), np.array([1, 2], "float32")).numpy()
        np.testing.assert_allclose(found, values + 1 if flag else values * values, rtol=1e-6)


def test_functions_and_tuples_are_values() -> None:
    f, x, y = relay.var("f"), relay.var("x", shape=(2,)), relay.var("y", shape=(2,))
    pair = relay.Function([y], relay.Tuple([y + y, relay.Tuple([x, y])]))
    call = relay.TupleGetItem(f(x), 1)
    program = relay.Function([x], relay.Let(f, pair, relay.Tuple([relay.TupleGetItem(f(x), 0), call])))
    first, second = evaluate(program, np.array([1, 2], "float32"))
    assert first.numpy().tolist() == [2, 4] and [v.numpy().tolist() for v in second] == [[1, 2], [1, 2]]


def test_cells_are_written_in_order() -> None:
    r, unused = relay.var("r"), relay.var("_")
    write = relay.RefWrite(r, relay.RefRead(r) + relay.const(5))
    body = relay.Let(r, relay.RefCreate(relay.const(1)), relay.Let(unused, write, relay.RefRead(r)))
    assert evaluate(relay.Function([], body)).numpy() == 6
    text = IRModule.from_expr(relay.Function([], body)).astext()
    assert evaluate(tvm.parser.fromtext(text)["main"]).numpy() == 6


# -- random programs --------------------------------------------------------------------------------------


class Random:
    """Random programs of arithmetic, tuples, branches, lets and local functions on vectors of 3."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.x, self.y = relay.var("x", shape=(3,)), relay.var("y", shape=(3,))

    def program(self) -> Any:
        pool: list[Any] = [self.x, self.y, relay.const(np.array([0.5, -1, 2], "float32"))]
        lets: list[tuple[Any, Any]] = []
        for n in range(14):
            value = self.step(pool)
            if self.rng.random() < 0.25:
                name = relay.var(f"v{n}")
                lets.append((name, value))
                value = name
                pool = [value, *pool[-4:], self.x]
            else:
                pool.append(value)
            if lets and len(lets) > 2:
                break
        body = relay.Tuple([pool[-1], pool[-2]])
        for name, value in reversed(lets):
            body = relay.Let(name, value, body)
        return relay.Function([self.x, self.y], body)

    def step(self, pool: list[Any]) -> Any:
        a, b = (pool[int(self.rng.integers(len(pool)))] for _ in range(2))
        kind = int(self.rng.integers(6))
        if kind == 0:
            return relay.TupleGetItem(relay.Tuple([a, relay.maximum(a, b)]), int(self.rng.integers(2)))
        if kind == 1:
            condition = relay.less(relay.sum(a), relay.sum(b))
            return relay.If(condition, relay.add(a, relay.tanh(b)), relay.If(condition, b, relay.tanh(b)))
        if kind == 2:
            p = relay.var("p", shape=(3,))
            return relay.Function([p], relay.subtract(relay.multiply(p, b), a))(b)
        return [relay.add, relay.multiply, relay.minimum][kind - 3](relay.tanh(a), b)


def interpret(node: Any, env: dict[Any, Any]) -> Any:
    """The value of a program by its definition, in numpy."""
    if isinstance(node, relay.Constant):
        return node.data.numpy()
    if isinstance(node, relay.Var):
        return env[node]
    if isinstance(node, relay.Tuple):
        return tuple(interpret(f, env) for f in node.fields)
    if isinstance(node, relay.TupleGetItem):
        return interpret(node.tuple_value, env)[node.index]
    if isinstance(node, relay.Let):
        return interpret(node.body, {**env, node.var: interpret(node.value, env)})
    if isinstance(node, relay.If):
        return interpret(node.true_branch if interpret(node.cond, env) else node.false_branch, env)
    if isinstance(node, relay.Function):
        return lambda *args: interpret(node.body, {**env, **dict(zip(node.params, args, strict=True))})  # type: ignore[misc]
    args = [interpret(a, env) for a in node.args]
    if isinstance(node.op, relay.Function):
        return interpret(node.op, env)(*args)
    return getattr(np, node.op.name)(*args)


@pytest.mark.parametrize("seed", range(12))
def test_random_programs_mean_the_same_in_every_form(seed: int) -> None:
    program = Random(seed).program()
    x, y = np.random.default_rng(seed).standard_normal((2, 3)).astype("float32")
    wanted = interpret(program, {})(x, y)
    mod = IRModule.from_expr(program)
    read_back = IRModule.of_ir(*mod.ir())
    from_text = tvm.parser.fromtext(mod.astext())
    assert_structural_equal(from_text, mod)
    for form in (mod["main"], from_text["main"], read_back["main"], tvm.parser.fromtext(read_back.astext())["main"]):
        for found, right in zip(evaluate(form, x, y), wanted, strict=True):
            np.testing.assert_allclose(found.numpy(), right, rtol=1e-5, atol=1e-6)


# -- walking and comparing ----------------------------------------------------------------------------------


def chain(length: int) -> Any:
    x = relay.var("x", shape=(2,))
    value = x
    for _ in range(length):
        value = relay.tanh(value)
    return relay.Function([x], value)


def test_long_programs_need_no_recursion() -> None:
    mod = IRModule.from_expr(chain(2500))
    read = IRModule.of_ir(*mod.ir())
    assert relay.analysis.list_op_freqs(read) == {"tanh": 2500}

    class Count(relay.ExprVisitor):
        calls = 0

        def visit_call(self, call: Any) -> None:
            self.calls += 1
            super().visit_call(call)  # pyright: ignore[reportUnknownMemberType]

    class Swap(relay.ExprMutator):
        def visit_call(self, call: Any) -> Any:
            return relay.Call(relay.op.get("sigmoid"), [self.visit(a) for a in call.args])

    counter = Count()
    counter.visit(read["main"])
    assert counter.calls == 2500
    swapped = Swap().visit(read["main"])
    assert relay.analysis.list_op_freqs(swapped) == {"sigmoid": 2500}
    assert structural_equal(mod, read) and structural_hash(mod) == structural_hash(read)
    again = tvm.parser.fromtext(mod.astext())
    assert structural_equal(again, mod)
    lets = relay.transform.ToANormalForm()(mod)
    assert relay.analysis.list_op_freqs(IRModule.of_ir(*lets.ir())) == {"tanh": 2500}


def test_a_method_decides_what_is_visited_below() -> None:
    x, y = relay.var("x", shape=(2,)), relay.var("y", shape=(2,))
    skipped = relay.exp(y)
    expr = relay.tanh(relay.sigmoid(skipped) + x)

    seen: list[str] = []

    class NotBelowSigmoid(relay.ExprVisitor):
        def visit_call(self, call: Any) -> None:
            seen.append(call.op.name)
            if call.op.name != "sigmoid":
                super().visit_call(call)  # pyright: ignore[reportUnknownMemberType]

    NotBelowSigmoid().visit(expr)
    assert seen == ["tanh", "add", "sigmoid"]
    seen.clear()
    last = x
    for _ in range(3000):
        last = relay.add(y, last)
    NotBelowSigmoid().visit(relay.Function([x, y], last))
    assert seen == ["add"] * 3000


def test_only_what_is_looked_at_is_read() -> None:
    read = IRModule.of_ir(*IRModule.from_expr(chain(50)).ir())
    last = read["main"].body
    assert last.op.name == "tanh" and "args" not in last.__dict__
    assert last.args[0].op.name == "tanh" and "args" not in last.args[0].__dict__


def test_equality_is_up_to_names_of_bound_variables() -> None:
    def program(name: str, value: float = 1.0, op: Any = None) -> Any:
        x = relay.var(name, shape=(2,))
        return relay.Function([x], (op or relay.add)(x, relay.const(value)))

    assert structural_equal(program("x"), program("y"))
    assert structural_hash(program("x")) == structural_hash(program("y"))
    for other in (program("x", 2.0), program("x", 1.0, relay.subtract), relay.Function([], relay.const(1.0))):
        assert not structural_equal(program("x"), other)
        assert structural_hash(program("x")) != structural_hash(other)
    x = relay.var("x", shape=(2,))
    once = relay.exp(x)
    assert not structural_equal(relay.Tuple([once, once]), relay.Tuple([once, relay.exp(x)]))
    free = relay.var("x", shape=(2,))
    assert not structural_equal(relay.exp(x), relay.exp(free))
    assert structural_equal(relay.exp(x), relay.exp(free), map_free_vars=True)
    with pytest.raises(ValueError, match="axis"):
        assert_structural_equal(relay.sum(x, axis=0), relay.sum(x), map_free_vars=True)


def test_variables_are_found_and_bound() -> None:
    x, y, v = relay.var("x", shape=(2,)), relay.var("y", shape=(2,)), relay.var("v")
    expr = relay.Let(v, x + x, relay.Tuple([v, relay.Function([y], y * x)]))
    assert relay.analysis.free_vars(expr) == [x]
    assert set(relay.analysis.bound_vars(expr)) == {v, y} and relay.analysis.all_vars(x + y) == [x, y]
    function = relay.Function([x, y], x - y)
    bound = relay.bind(function, {y: relay.const(np.array([1, 1], "float32"))})
    assert bound.params == [x]
    assert evaluate(bound, np.array([3, 4], "float32")).numpy().tolist() == [2, 3]
    named = relay.build_module.bind_params_by_name(function, {"x": np.array([5, 5], "float32"), "other": 1})
    assert [p.name_hint for p in named.params] == ["y"]


def test_modules_have_functions_by_name() -> None:
    x = relay.var("x", shape=(2,))
    mod = IRModule.from_expr(relay.tanh(x))
    mod["helper"] = relay.Function([x], relay.exp(x))
    assert "helper" in mod and mod[mod.get_global_var("helper")] is mod["helper"]
    other = IRModule({"helper": relay.Function([x], relay.log(x))})
    mod.update(other)
    assert mod["helper"].body.op.name == "log" and len(mod) == 2
    with pytest.raises(ValueError, match="did you mean 'helper'"):
        mod.get_global_var("helpr")


# -- mistakes -----------------------------------------------------------------------------------------------


def test_mistakes_are_named() -> None:
    x, w = relay.var("x", shape=(1, 3, 8, 8)), relay.var("w", shape=(4, 4, 3, 3))
    with pytest.raises(LaminaError, match="nn.conv2d: input has 3 channels, weight expects 4"):
        assert relay.nn.conv2d(x, w).checked_type
    with pytest.raises(InputError, match="the type of %b is not known, and add does not say it; give it: relay.var"):
        assert (x + relay.var("b")).checked_type
    with pytest.raises(InputError, match="gives? .*tensor<2xf32>"):
        c = relay.var("c", shape=(), dtype="bool")
        assert relay.If(c, relay.var("a", shape=(2,)), relay.var("b", shape=(3,))).checked_type
    with pytest.raises(TypeError, match="'weight'"):
        relay.nn.dense(x)
    with pytest.raises(InputError, match="no function @gone"):
        IRModule.from_expr(relay.Function([], relay.GlobalVar("gone")())).ir()
    with pytest.raises(InputError, match="calls itself: its types have to be written"):
        f, n = relay.var("f"), scalar("n")
        IRModule.from_expr(relay.Let(f, relay.Function([n], f(n)), f(relay.const(1)))).ir()
    with pytest.raises(UsageError, match="a pass takes an IRModule"):
        relay.transform.FoldConstant()(x + x)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("meta_schedule", "tvm.meta_schedule is not bridged; use"),
        ("relay.frontend.from_coreml", "use an export to ONNX"),
        ("relay.nn.convv2d", "did you mean 'conv2d'"),
        ("relay.transform.FuseOp", "did you mean 'FuseOps'"),
        ("relay.quantize", "use a quantised ONNX model"),
        ("contrib.pipeline_executor", "use one program for each part"),
        ("relay.testing.darknet", "tvm.relay.testing.darknet is not bridged"),
    ],
)
def test_names_that_are_not_bridged_say_what_to_use(name: str, said: str) -> None:
    at: Any = tvm
    *path, last = name.split(".")
    for part in path:
        at = getattr(at, part)
    with pytest.raises(AttributeError) as caught:
        getattr(at, last)
    assert said in str(caught.value)


# -- building and running -------------------------------------------------------------------------------------


def test_a_workload_is_built_and_run() -> None:
    mod, params = relay.testing.mlp.get_workload(3, 5, (1, 6, 6))
    with tvm.transform.PassContext(opt_level=3):
        lib = relay.build(mod, target="llvm", params=params)
    module = graph_executor.GraphModule(lib["default"](tvm.device("llvm", 0)))
    data = np.random.default_rng(0).random((3, 1, 6, 6), "float32")
    module.set_input("data", data)
    module.run()
    p = {k: v.numpy() for k, v in params.items()}
    hidden = data.reshape(3, -1)
    for n in (1, 2):
        hidden = np.maximum(hidden @ p[f"fc{n}_weight"].T + p[f"fc{n}_bias"], 0)
    logits = hidden @ p["fc3_weight"].T + p["fc3_bias"]
    wanted = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    np.testing.assert_allclose(module.get_output(0).numpy(), wanted, rtol=1e-4)
    out = tvm.nd.empty((3, 5))
    assert module.get_output(0, out) is out and np.array_equal(out.numpy(), module.get_output(0).numpy())
    assert module.get_num_outputs() == 1 and module.benchmark(repeat=2, number=1).mean > 0
    assert module.get_input_index("data") == 0 and module.get_input_info()[0] == {"data": (3, 1, 6, 6)}
    with pytest.raises(InputError, match="no input 'dat'; did you mean 'data'"):
        module.set_input("dat", data)
    with pytest.raises(InputError, match=r"shape \[3, 1, 6, 6\], not \[3, 6\]"):
        module.set_input("data", data[:, 0, 0])
    fresh = graph_executor.GraphModule(lib["default"](tvm.cpu()))
    with pytest.raises(UsageError, match="run"):
        fresh.get_output(0)


def test_unknown_extents_and_branches_are_built_and_run() -> None:
    x, flag = relay.var("x", shape=(relay.Any(), 3)), relay.var("flag", shape=(), dtype="bool")
    flat = relay.reshape(relay.tanh(x), [-1])
    mod = IRModule.from_expr(relay.Function([x, flag], relay.If(flag, flat, relay.negative(flat))))
    module = graph_executor.GraphModule(relay.build(mod, "llvm")["default"](tvm.cpu()))
    for rows, sign in ((4, True), (1, False)):
        data = np.random.default_rng(rows).standard_normal((rows, 3)).astype("float32")
        module.run(x=data, flag=np.array(sign))
        wanted = np.tanh(data).reshape(-1) * (1 if sign else -1)
        np.testing.assert_allclose(module.get_output(0).numpy(), wanted, rtol=1e-5)


def test_a_shape_that_is_a_value_is_followed() -> None:
    x, like = relay.var("x", shape=(relay.Any(),)), relay.var("like", shape=(2,), dtype="int64")
    mod = IRModule.from_expr(relay.Function([x, like], relay.reshape(x, like)))
    assert "dyn.reshape" in mod.astext()
    found = relay.create_executor("vm", mod).evaluate()(np.arange(6, dtype="float32"), np.array([2, 3]))
    assert found.numpy().tolist() == [[0, 1, 2], [3, 4, 5]]


def test_parameters_are_saved_in_tvms_format() -> None:
    params = {"a": np.arange(6, dtype="float32").reshape(2, 3), "b.c": np.array([True, False]), "d": np.int8(-3)}
    raw = relay.save_param_dict(params)
    found = relay.load_param_dict(raw)
    assert list(found) == list(params)
    for name, value in params.items():
        assert found[name].numpy().dtype == np.asarray(value).dtype
        assert np.array_equal(found[name].numpy(), value)
    for wrong in (b"", raw[:40], b"x" * 64):
        with pytest.raises(InputError):
            relay.load_param_dict(wrong)


def test_passes_of_ones_own_see_and_give_expressions() -> None:
    @tvm.transform.module_pass(opt_level=1, name="Twice")
    def twice(mod: Any, ctx: Any) -> Any:
        main = mod["main"]
        return IRModule.from_expr(relay.Function(main.params, main.body + main.body))

    seen: list[str] = []

    class Names(tvm.transform.PassInstrument):
        def run_before_pass(self, mod: Any, info: Any) -> None:
            seen.append(info.name)

    x = relay.var("x", shape=(2,))
    mod = IRModule.from_expr(relay.tanh(x))
    with tvm.transform.PassContext(opt_level=2, instruments=[Names()]):
        found = tvm.transform.Sequential([twice, relay.transform.FoldConstant(), twice])(mod)
    assert seen == ["Twice", "FoldConstant", "Twice"]
    assert relay.analysis.list_op_freqs(found) == {"tanh": 1, "add": 2}
    with tvm.transform.PassContext(opt_level=0):
        assert tvm.transform.Sequential([twice])(mod)["main"].body.op.name == "tanh"
    assert relay.analysis.list_op_freqs(mod) == {"tanh": 1}


def test_one_pass_runs_on_an_expression() -> None:
    x = relay.var("x", shape=(2,))
    found = relay.testing.run_opt_pass(x + (relay.const(1.0) + relay.const(2.0)), relay.transform.FoldConstant())
    assert isinstance(found.args[1], relay.Constant) and found.args[1].data.numpy() == 3


def test_a_module_is_optimised_as_it_is_built() -> None:
    mod, params = relay.testing.resnet.get_workload(1, 10, 18, (3, 32, 32))
    with tvm.transform.PassContext(opt_level=3):
        changed, rest = relay.optimize(mod, "llvm", params)
    nodes: list[Any] = []
    relay.analysis.post_order_visit(changed["main"], nodes.append)
    primitive = [n for n in nodes if isinstance(n, relay.Function) and n.attrs]
    assert len(primitive) > 15 and "nn.batch_norm" not in relay.analysis.list_op_freqs(changed)
    assert [p.name_hint for p in changed["main"].params] == ["data"] and set(rest) == set(params)
