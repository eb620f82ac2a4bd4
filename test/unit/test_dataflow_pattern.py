"""Dataflow patterns: what each kind matches, what backtracking finds, what is taken out and what is rewritten."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from lamina.dataflow_pattern import (
    DFPatternCallback,
    FunctionPattern,
    dominates,
    find,
    has_dtype,
    is_constant,
    is_expr,
    is_if,
    is_let,
    is_op,
    is_tuple,
    is_tuple_get_item,
    is_var,
    match,
    partition,
    rewrite,
    wildcard,
)
from lamina.dialects import relay as r
from lamina.dialects.rules.patterns import OpPattern
from lamina.dialects.rules.values import RuleError
from lamina.errors import InputError, InternalError

sys.path.insert(0, str(Path(__file__).parent))

from pattern_programs import T, module_of, names, text, unary, value  # noqa: E402

pytestmark = pytest.mark.slow

# -- one test for each kind of pattern ---------------------------------------------------------------------------


def test_the_spelling_builds_what_terms_build():
    a, b = wildcard(), is_constant()
    made = is_op("nn.bias_add")(a, b)
    assert type(made) is OpPattern and made.op is r.nn.bias_add.op and made.args == (a, b)
    term = r.nn.bias_add(a, b)
    assert (term.op, term.args, term.attrs) == (made.op, made.args, made.attrs)
    for p, name in ((a + b, "add"), (a - b, "subtract"), (a * b, "multiply"), (a / b, "divide"), (2 * a, "multiply")):
        assert isinstance(p, OpPattern) and p.op.name == f"relay.{name}"


def test_leaves():
    m = module_of(f"%c = relay.constant dense<2.0> : {T}; %out = relay.add %x, %c : {T}")
    for leaf, fits in (
        (wildcard(), "x c out"),
        (is_constant(), "c"),
        (is_var(), "x"),
        (is_var("x"), "x"),
        (is_var("z"), ""),
    ):
        for name in ("x", "c", "out"):
            assert match(leaf, value(m, name)) == (name in fits.split()), (leaf, name)
    assert match(has_dtype("float32"), value(m)) and not match(has_dtype("int8"), value(m))
    assert match(wildcard().has_shape((4,)), value(m)) and not match(wildcard().has_shape((4, 1)), value(m))
    type_: Any = value(m).type
    assert match(wildcard().has_type(type_), value(m))


def test_one_object_is_one_value():
    m = module_of(f"%a = relay.add %x, %x : {T}; %out = relay.add %x, %y : {T}")
    same, other = wildcard(), wildcard()
    assert match(is_op("add")(same, same), value(m, "a")) and not match(is_op("add")(same, same), value(m))
    assert match(is_op("add")(same, other), value(m))


def test_attributes_of_calls_by_value():
    t, s = "tensor<1x2x4x4xf32>", "tensor<2x2x1x1xf32>"
    m = module_of(
        f"%out = relay.nn.conv2d %x, %y {{strides = [1, 1]}} : ({t}, {s}) -> {t}",
        params=f"%x: {t}, %y: {s}",
        types=t,
    )
    conv = is_op("nn.conv2d")(wildcard(), wildcard())
    assert match(conv.has_attr({"strides": [1, 1], "groups": 1, "data_layout": "NCHW"}), value(m))
    assert not match(conv.has_attr({"strides": [2, 1]}), value(m))
    assert match((conv | wildcard()).has_attr({"groups": 1.0}), value(m))
    with pytest.raises(RuleError, match="no attribute 'stride'"):
        conv.has_attr({"stride": 1})


def test_callees_by_fusion_kind_and_choice():
    m = module_of(unary("exp", "nn.relu"))
    elementwise = wildcard().has_attr({"TOpPattern": 0})
    assert match(elementwise(elementwise(wildcard())), value(m))
    assert not match(wildcard().has_attr({"TOpPattern": 1})(None), value(m))
    # Said of an operator by its name, before it is applied.
    assert match(is_op("nn.relu").has_attr({"TOpPattern": 0})(wildcard()), value(m))
    assert not match(is_op("nn.relu").has_attr({"TOpPattern": 1})(wildcard()), value(m))
    assert match((is_op("tanh") | is_op("nn.relu"))(is_op("exp")(None)), value(m))
    assert match(wildcard()(wildcard()), value(m)) and not match(wildcard()(wildcard(), wildcard()), value(m))


def test_expression_by_structure():
    m = module_of(
        f"%a = relay.exp %x : {T}; %b = relay.exp %x : {T}; %c = relay.exp %y : {T}; %out = relay.add %b, %c : {T}"
    )
    assert match(is_expr(value(m, "a")), value(m, "b")) and not match(is_expr(value(m, "a")), value(m, "c"))
    assert match(is_op("add")(is_expr(value(m, "a")), wildcard()), value(m))


def test_lists_of_tensors():
    two = "tensor<8xf32>"
    m = module_of(f"%a = relay.exp %x : {T}; %out = relay.concatenate %a, %y : ({T}, {T}) -> {two}", types=two)
    a = is_op("exp")(wildcard())
    assert match(is_op("concatenate")(is_tuple([a, wildcard()])), value(m))
    assert match(is_op("concatenate")(is_tuple()), value(m)) and match(is_op("concatenate")(wildcard()), value(m))
    assert not match(is_op("concatenate")(is_tuple([wildcard()])), value(m))
    assert not match(is_op("concatenate")(is_tuple([wildcard(), a])), value(m))


def test_tuples_and_their_fields():
    tt = f"tuple<{T}, {T}>"
    m = module_of(f"%a = relay.exp %x : {T}; %t = relay.tuple(%a, %y) : {tt}; %out = relay.tuple_get_item %t[0] : {tt}")
    pair = is_tuple([is_op("exp")(wildcard()), is_var("y")])
    assert match(pair, value(m, "t")) and match(is_tuple(), value(m, "t"))
    assert match(is_tuple_get_item(pair, 0), value(m)) and match(is_tuple_get_item(wildcard()), value(m))
    assert not match(is_tuple_get_item(pair, 1), value(m))


def test_results_of_an_op_with_several():
    half = "tensor<2xf32>"
    m = module_of(
        f"%a, %out = relay.split %x {{indices_or_sections = [2], axis = 0}} : ({T}) -> ({half}, {half})", types=half
    )
    split: Any = is_op("split")(wildcard())
    assert match(is_tuple_get_item(split, 1), value(m)) and not match(is_tuple_get_item(split, 0), value(m))
    assert match(is_tuple_get_item(split), value(m)) and match(split, value(m))
    assert match(split[1], value(m)) and not match(split[0], value(m))


def test_branches():
    m = module_of(
        f"""%out = relay.if %c -> {T} {{
        %a = relay.exp %x : {T}
        relay.yield %a : {T}
        }} else {{
        relay.yield %y : {T}
        }}""",
        params=f"%c: tensor<i1>, %x: {T}, %y: {T}",
    )
    assert match(is_if(is_var("c"), is_op("exp")(wildcard()), is_var("y")), value(m))
    assert not match(is_if(wildcard(), is_op("tanh")(wildcard()), wildcard()), value(m))


def test_let_says_what_a_variable_stands_for():
    m = module_of(f"%v = relay.exp %x : {T}; %out = relay.add %v, %v : {T}")
    v = is_var("v")
    assert match(is_let(v, is_op("exp")(is_var("x")), is_op("add")(v, v)), value(m))
    w = wildcard()
    assert not match(is_let(w, is_op("tanh")(wildcard()), is_op("add")(w, w)), value(m))
    with pytest.raises(RuleError, match="does not use"):
        is_let(is_var("v"), wildcard(), wildcard())


def test_functions_and_their_calls():
    m = module_of(
        f"""%f = relay.fn (%a: {T}, %b: {T}) -> {T} attributes {{Composite = "c"}} {{
        %s = relay.add %a, %b : {T}
        relay.return %s : {T}
        }}
        %out = relay.call %f(%x, %y) : ({T}, {T}) -> {T}"""
    )
    a, b = is_var(), is_var()
    added = FunctionPattern([a, b], is_op("add")(a, b))
    assert match(added, value(m, "f")) and match(added(is_var("x"), is_var("y")), value(m))
    assert match(added.has_attr({"Composite": "c"})(None), value(m))
    assert not match(added.has_attr({"Composite": "d"})(None), value(m))
    assert not match(FunctionPattern([a, a], is_op("add")(a, a)), value(m, "f"))
    assert not match(FunctionPattern([a], is_op("add")(a, a)), value(m, "f"))
    assert not match(FunctionPattern([a, b], is_op("multiply")(a, b)), value(m, "f"))
    assert not match(FunctionPattern([], wildcard()), value(m, "f"))
    assert match(FunctionPattern(None, wildcard()), value(m, "f")) and match(wildcard()(None), value(m))
    with pytest.warns(UserWarning, match="not partitioned"):
        assert partition(added, m) == 0


def test_parameters_of_a_function_are_not_its_captures():
    m = module_of(
        f"""%k = relay.exp %x : {T}
        %f = relay.fn captures(%c = %k : {T}) (%a: {T}) -> {T} {{
        %s = relay.subtract %a, %c : {T}
        relay.return %s : {T}
        }}
        %out = relay.call %f(%x) : ({T}) -> {T}"""
    )
    a = is_var()
    assert match(FunctionPattern([a], is_op("subtract")(a, wildcard())), value(m, "f"))
    assert not match(FunctionPattern([a], is_op("subtract")(wildcard(), a)), value(m, "f"))


DIAMOND = f"""%a = relay.exp %x : {T}
%b = relay.tanh %a : {T}
%c = relay.nn.relu %a : {T}
%out = relay.add %b, %c : {T}"""


def test_dominator():
    m = module_of(DIAMOND)
    any_elementwise = wildcard().has_attr({"TOpPattern": 0})(None)
    end = is_op("add")(wildcard(), wildcard())
    assert match(dominates(is_op("exp")(wildcard()), any_elementwise, end), value(m))
    assert match(end.dominates(is_op("exp")(wildcard())), value(m))
    assert not match(dominates(is_op("exp")(wildcard()), is_op("tanh")(None), end), value(m))
    assert not match(dominates(is_op("tanh")(wildcard()), any_elementwise, end), value(m))
    away = module_of(DIAMOND.replace("relu %a", "relu %v").replace("%c =", f"%v = relay.ceil %x : {T}\n%c ="))
    assert not match(dominates(is_op("exp")(wildcard()), any_elementwise, end), value(away))


def test_dominator_takes_the_parent_that_the_rest_allows():
    m = module_of(unary("exp", "exp", "nn.relu"))
    parent = is_op("exp")(is_var("x"))
    found = find(dominates(parent, is_op("exp")(None), is_op("nn.relu")(wildcard())), value(m))
    assert found is not None and found[parent] == [value(m, "v0")]


def test_redirected_wildcard_matches_chains_of_any_length():
    chain = wildcard()
    step = is_op("tanh")(chain)
    chain.redirect_to(step | is_var("x"))
    for n in (1, 2, 7):
        m = module_of(unary(*["tanh"] * n))
        found = find(step, value(m))
        assert found is not None and len(found[step]) == n
    assert not match(step, value(module_of(unary("exp", "tanh"))))


def test_a_variable_beside_the_recursion_is_shared_and_one_inside_is_not():
    chain, y, inner = wildcard(), wildcard(), wildcard()
    chain.redirect_to(is_op("multiply")(chain, inner) | is_var("x"))
    lines = f"""%c = relay.constant dense<2.0> : {T}
    %a = relay.multiply %x, %c : {T}
    %b = relay.multiply %a, %y : {T}
    %out = relay.subtract %b, %y : {T}"""
    assert match(is_op("subtract")(chain, y), value(module_of(lines)))
    shared = wildcard()
    shared.redirect_to(is_op("multiply")(shared, y) | is_var("x"))
    assert not match(is_op("subtract")(shared, y), value(module_of(lines)))
    assert match(is_op("subtract")(shared, y), value(module_of(lines.replace("%x, %c", "%x, %y"))))


def test_a_wildcard_that_is_itself_is_refused():
    loop = wildcard()
    loop.redirect_to(loop | is_var())
    with pytest.raises(RuleError, match="not a part of it"):
        match(is_op("tanh")(loop), value(module_of(unary("tanh"))))


def test_alternatives_and_swapped_operands_backtrack():
    # The first alternative fits, but takes %x for w, and only the second leaves what the outer part asks for.
    m = module_of(f"%a = relay.add %x, %y : {T}; %b = relay.exp %y : {T}; %out = relay.subtract %a, %b : {T}")
    w = wildcard()
    assert match(is_op("subtract")(is_op("add")(w, wildcard()), is_op("exp")(w)), value(m))
    either = is_op("add")(w, is_var("y")) | is_op("add")(is_var("x"), w)
    assert match(is_op("subtract")(either, is_op("exp")(w)), value(m))


def test_a_product_over_a_number_in_three_forms():
    a, b, c = is_var("x"), is_op("exp")(wildcard()), is_var("y")
    quotient = (a * b) / c
    lines = f"%b = relay.exp %x : {T}\n%i = relay.{{}} : {T}\n%out = relay.{{}} : {T}"
    for first, second, fits in (
        ("multiply %x, %b", "divide %i, %y", True),
        ("divide %b, %y", "multiply %x, %i", True),
        ("divide %x, %y", "multiply %i, %b", True),
        ("divide %y, %b", "multiply %x, %i", False),
        ("multiply %x, %b", "divide %y, %i", False),
    ):
        m = module_of(lines.format(first, second))
        assert match(quotient, value(m)) == fits, (first, second)
        if fits:
            found = find(quotient, value(m))
            assert found is not None and found[quotient] == [value(m)]
            assert partition(quotient, m) == 1
            m.verify()
    m = module_of(lines.format("multiply %x, %b", "divide %i, %y"))
    assert match(a * (b / c), value(m)) and match((b / c) * a, value(m))


def test_optional_with_and_without():
    pattern = is_op("exp")(wildcard()).optional(lambda e: is_op("nn.relu")(e))
    both, one = module_of(unary("exp", "nn.relu")), module_of(unary("exp"))
    assert match(pattern, value(both)) and match(pattern, value(one))
    assert partition(pattern, both) == 1 and names(both) == ["fn", "exp", "nn.relu", "return", "call"]


@pytest.mark.parametrize("name, what", [("nn.convd", "did you mean"), ("call", "no op"), ("nonsense", "no op")])
def test_unknown_ops_are_refused_where_they_are_written(name: str, what: str):
    with pytest.raises(RuleError, match=what):
        is_op(name)


def test_numbers_that_are_operands_in_tvm_are_attributes_here():
    for pad_value in (wildcard(), is_constant()):
        made = is_op("nn.pad")(wildcard(), pad_value)
        assert isinstance(made, OpPattern) and len(made.args) == 1
    with pytest.raises(RuleError, match="takes 1 operands, got 2"):
        is_op("nn.pad")(wildcard(), is_op("exp")(wildcard()))
    with pytest.raises(RuleError, match="takes 2 operands, got 1"):
        is_op("nn.conv2d")(wildcard())


def test_four_thousand_ops_deep():
    n = 4_000
    m = module_of(unary(*["tanh"] * n))
    chain = wildcard()
    step = is_op("tanh")(chain)
    chain.redirect_to(step | is_var("x"))
    found = find(step, value(m))
    assert found is not None and len(found[step]) == n
    every = dominates(is_op("tanh")(is_var("x")), is_op("tanh")(None), is_op("tanh")(wildcard()))
    assert match(every, value(m))
    assert partition(step, m) == 1
    m.verify()


# -- partition ---------------------------------------------------------------------------------------------------


def functions(m: ModuleOp) -> list[str]:
    return [o.attributes["PartitionedFromPattern"].data for o in m.walk() if "PartitionedFromPattern" in o.attributes]  # type: ignore[attr-defined]


def test_partition_calls_a_function_where_the_root_was():
    m = module_of(unary("exp", "nn.relu", "tanh"))
    assert partition(is_op("nn.relu")(is_op("exp")(wildcard())), m, {"Composite": "c.exp_relu"}) == 1
    m.verify()
    assert functions(m) == ["exp_nn.relu_"] and names(m) == ["fn", "exp", "nn.relu", "return", "call", "tanh"]
    assert 'Composite = "c.exp_relu"' in text(m) and "%FunctionVar:" in text(m)
    # What is partitioned is not entered again.
    assert partition(is_op("exp")(wildcard()), m) == 0


def test_inner_op_with_a_use_elsewhere_is_not_taken():
    m = module_of(f"%a = relay.exp %x : {T}; %out = relay.nn.relu %a : {T}", "%out, %a", types=f"{T}, {T}".strip("()"))
    assert partition(is_op("nn.relu")(is_op("exp")(wildcard())), m) == 0


def test_use_that_leads_back_is_served_by_a_copy():
    m = module_of(f"%a = relay.exp %x : {T}; %s = relay.sigmoid %a : {T}; %out = relay.multiply %a, %s : {T}")
    assert partition(is_op("multiply")(is_op("exp")(wildcard()), wildcard()), m) == 1
    m.verify()
    assert names(m) == ["exp", "sigmoid", "fn", "exp", "multiply", "return", "call"]


def test_constants_stay_inside_only_where_asked_for():
    for leaf, inside in ((is_constant(), True), (wildcard(), False)):
        m = module_of(f"%c = relay.constant dense<2.0> : {T}; %out = relay.multiply %x, %c : {T}")
        assert partition(is_op("multiply")(wildcard(), leaf), m) == 1
        m.verify()
        assert names(m) == (
            ["fn", "constant", "multiply", "return", "call"]
            if inside
            else ["constant", "fn", "multiply", "return", "call"]
        )


def test_later_ops_first_and_each_once():
    m = module_of(unary("exp", "exp", "exp"))
    assert partition(is_op("exp")(is_op("exp")(wildcard())), m) == 1
    assert names(m) == ["exp", "fn", "exp", "exp", "return", "call"]


def test_check_sees_types_and_makes_another_choice():
    m = module_of(unary("exp", "nn.relu"))
    seen: list[Any] = []

    def refuse(v: SSAValue) -> bool:
        seen.append(v.type)
        return False

    assert partition(is_op("nn.relu")(wildcard()), m, check=refuse) == 0 and seen == [value(m).type]


def test_tuple_and_item_names():
    half, whole = "tensor<2xf32>", T
    m = module_of(
        f"""%a, %b = relay.split %x {{indices_or_sections = [2], axis = 0}} : ({whole}) -> ({half}, {half})
        %out = relay.concatenate %b, %a : ({half}, {half}) -> {whole}"""
    )
    split = is_op("split")(wildcard())
    swapped = is_op("concatenate")(is_tuple([is_tuple_get_item(split, 1), is_tuple_get_item(split, 0)]))
    assert partition(swapped, m) == 1
    m.verify()
    assert functions(m) == ["split_TupleGetItem1_TupleGetItem0_Tuple_concatenate_"]


def test_op_with_several_results_as_root_gives_all_that_are_used():
    half = "tensor<2xf32>"

    def both_halves() -> ModuleOp:
        split = f"%a, %b = relay.split %x {{indices_or_sections = [2], axis = 0}} : ({T}) -> ({half}, {half})"
        return module_of(split, "%a, %b", types=f"{half}, {half}")

    m = both_halves()
    assert partition(is_op("split")(wildcard()), m) == 1
    m.verify()
    assert functions(m) == ["split_"]
    # One result is all that this pattern takes, and the other is used.
    assert partition(is_tuple_get_item(is_op("split")(wildcard()), 0), both_halves()) == 0


def test_nested_function_is_part_of_what_is_around_it():
    m = module_of(unary("exp", "nn.relu", "tanh"))
    assert partition(is_op("nn.relu")(is_op("exp")(wildcard())), m, {"Composite": "inner"}) == 1
    inner = FunctionPattern(None, wildcard()).has_attr({"Composite": "inner"})(wildcard())
    assert partition(is_op("tanh")(inner), m, {"Composite": "outer"}) == 1
    m.verify()
    assert names(m) == ["fn", "fn", "exp", "nn.relu", "return", "call", "tanh", "return", "call"]


# -- rewrite -----------------------------------------------------------------------------------------------------


class Callback(DFPatternCallback):
    def __init__(self, pattern: Any, make: Callable[[Any, Any], Any], once: bool = False) -> None:
        super().__init__(rewrite_once=once)
        self.pattern, self.make = pattern, make

    def callback(self, pre: SSAValue, post: SSAValue, node_map: Any) -> Any:
        return self.make(post, node_map)


def test_rewrite_to_a_fixed_point():
    x = wildcard()
    twice = Callback(is_op("tanh")(is_op("tanh")(x)), lambda post, found: r.tanh(found[x][0]))
    m = module_of(unary(*["tanh"] * 6))
    assert rewrite(twice, m) == 5 and names(m) == ["tanh"]
    m.verify()


def test_rewrite_once():
    x = wildcard()
    m = module_of(unary("tanh", "tanh"))
    assert rewrite(Callback(is_op("tanh")(x), lambda post, found: r.exp(found[x][0]), once=True), m) == 1
    assert sorted(names(m)) == ["exp", "tanh"]


def test_callback_that_gives_post_back_changes_nothing_and_leaves_nothing():
    m = module_of(unary("tanh"))

    def make(post: SSAValue, found: Any) -> SSAValue:
        r.exp(post)
        return post

    assert rewrite(Callback(is_op("tanh")(wildcard()), make), m) == 0 and names(m) == ["tanh"]


def test_any_root():
    m = module_of(unary("tanh", "exp"))
    p = wildcard().has_attr({"TOpPattern": 0})(is_op("tanh")(wildcard()))
    assert rewrite(Callback(p, lambda post, found: r.ceil(post.owner.operands[0]), once=True), m) == 1
    assert names(m) == ["tanh", "ceil"]


def test_callbacks_without_end_are_named():
    x, y = wildcard(), wildcard()
    a = Callback(is_op("tanh")(x), lambda post, found: r.exp(found[x][0]))

    class Back(Callback):
        def callback(self, pre: SSAValue, post: SSAValue, node_map: Any) -> Any:
            return r.tanh(node_map[y][0])

    b = Back(is_op("exp")(y), lambda post, found: None)
    there, back = (c.callback.__code__.co_firstlineno for c in (a, b))
    names = [f"test_dataflow_pattern.py:{line}" for line in (there, back)]
    with pytest.raises(InternalError) as caught:
        rewrite([a, b], module_of(unary("tanh")))
    # The circle is closed, whichever of the two it starts with.
    circle = str(caught.value).partition("do not end: ")[2].partition(";")[0].split(" -> ")
    assert circle in ([*names, names[0]], [*names[::-1], names[1]])


@pytest.mark.parametrize("require_type", [False, True])
def test_types_are_known_to_callbacks_also_of_what_others_have_made(require_type: bool):
    class Typed(DFPatternCallback):
        def __init__(self, name: str, new: Any) -> None:
            super().__init__(require_type=require_type)
            self.x, self.new = wildcard(), new
            self.pattern = is_op(name)(self.x)
            self.seen: list[str] = []

        def callback(self, pre: SSAValue, post: SSAValue, node_map: Any) -> Any:
            self.seen += [str(pre.type), str(post.type), str(node_map[self.x][0].type)]
            return self.new(node_map[self.x][0])

    # What the first one makes has another type inside, and the second is shown it.
    def half(value: Any) -> Any:
        return r.cast(r.tanh(r.cast(value, dtype="float16")), dtype="float32")

    halved, met = Typed("exp", half), Typed("tanh", r.sigmoid)
    m = module_of(unary("exp"))
    assert rewrite([halved, met], m) == 2
    m.verify()
    assert halved.seen == [T] * 3 and met.seen == ["tensor<4xf16>"] * 3


def test_callback_of_another_type_is_an_error_of_the_callback():
    x = wildcard()
    flat = Callback(is_op("tanh")(x), lambda post, found: r.reshape(found[x][0], newshape=(2, 2), allowzero=False))
    with pytest.raises(
        InputError, match="Callback replaces a value of type tensor<4xf32> by one of type tensor<2x2xf32>"
    ):
        rewrite(flat, module_of(unary("tanh")))


def test_equations_in_the_spelling_of_patterns():
    from lamina.passes.rules.rewriting import Rules

    x = wildcard()
    rules = Rules("test")
    rules += is_op("negative")(is_op("negative")(x)) >> x
    m = module_of(unary("negative", "negative", "exp"))
    assert rules.apply(m) == 1 and names(m) == ["exp"]
    assert isinstance(value(m).owner, Operation)
