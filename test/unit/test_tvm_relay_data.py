"""Data types, matches and functions with type parameters as TVM's programs write them, and TVM's prelude."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.func import FuncOp

import lamina.compat.tvm as tvm
from lamina.compat.tvm import parser
from lamina.compat.tvm import relay as _relay
from lamina.compat.tvm.ir import IRModule, assert_structural_equal, structural_equal, structural_hash
from lamina.compat.tvm.relay.dataflow_pattern import DFPatternCallback
from lamina.errors import InputError, LaminaError, UsageError
from lamina.frontends.tvm_text.walk import post_order

pytestmark = pytest.mark.slow

relay: Any = _relay
I32 = "int32"


@pytest.fixture(scope="module")
def prelude() -> Any:
    return relay.prelude.Prelude(IRModule())


def evaluate(mod: Any, expr: Any, *args: Any) -> Any:
    found = relay.create_executor("debug", mod).evaluate(expr)
    return plain(found(*args) if callable(found) else found)


def plain(value: Any) -> Any:
    """A value as Python has it: lists, Some(x) as ("Some", x), numbers."""
    if isinstance(value, list):
        return tuple(plain(v) for v in value)  # pyright: ignore[reportUnknownVariableType]
    name = getattr(getattr(value, "constructor", None), "name_hint", None)
    if name in ("Cons", "Nil"):
        found: list[Any] = []
        while value.constructor.name_hint == "Cons":
            found.append(plain(value[0]))
            value = value[1]
        return found
    if name is not None:
        return (name, *(plain(f) for f in value.fields))
    return value.numpy().tolist()


def listed(p: Any, xs: Any, dtype: str = "int32") -> Any:
    _, cons, nil = p.mod.get_type("List")
    found = nil()
    for x in reversed(xs):
        found = cons(relay.const(x, dtype) if not isinstance(x, relay.Expr) else x, found)
    return found


def unary(build: Callable[[Any], Any]) -> Any:
    """A function of an int32."""
    x = relay.var("x", shape=(), dtype=I32)
    return relay.Function([x], build(x))


def binary(build: Callable[[Any, Any], Any]) -> Any:
    """A function of two."""
    x, y = (relay.var(n, shape=(), dtype=I32) for n in "xy")
    return relay.Function([x, y], build(x, y))


ADD = binary(lambda x, y: x + y)
MINUS = binary(lambda x, y: x - y)
TWICE = unary(lambda x: x + x)
AS_FLOAT = unary(lambda x: x.astype("float32") * relay.const(0.5))
XS = [3, -1, 4, 1, -5]


def countdown(p: Any) -> Any:
    """How an unfold goes: n gives (n - 1, n) until it is 0."""
    _, some, none = p.mod.get_type("Option")
    n = relay.var("n", shape=(), dtype=I32)
    again = some(relay.Tuple([n - relay.const(1), n]))
    return relay.Function([n], relay.If(relay.equal(n, relay.const(0)), none(), again))


def tree(p: Any, x: int, *below: Any) -> Any:
    _, rose = p.mod.get_type("Tree")
    return rose(relay.const(x), listed(p, below))


CALLS: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "id": (lambda p: p.id(relay.const(7)), 7),
    "compose": (lambda p: p.compose(TWICE, TWICE)(relay.const(3)), 12),
    "flip": (lambda p: p.flip(MINUS)(relay.const(3), relay.const(10)), 7),
    "iterate": (lambda p: p.iterate(TWICE, relay.const(5))(relay.const(1)), 32),
    "hd": (lambda p: p.hd(listed(p, XS)), 3),
    "tl": (lambda p: p.tl(listed(p, XS)), XS[1:]),
    "nth": (lambda p: p.nth(listed(p, XS), relay.const(2)), 4),
    "length": (lambda p: p.length(listed(p, XS)), 5),
    "update": (lambda p: p.update(listed(p, XS), relay.const(3), relay.const(9)), [3, -1, 4, 9, -5]),
    "map": (lambda p: p.map(AS_FLOAT, listed(p, XS)), [x * 0.5 for x in XS]),
    "foldl": (lambda p: p.foldl(MINUS, relay.const(1), listed(p, XS)), functools.reduce(lambda a, x: a - x, XS, 1)),
    "foldr": (
        lambda p: p.foldr(MINUS, relay.const(1), listed(p, XS)),
        functools.reduce(lambda a, x: x - a, XS[::-1], 1),
    ),
    "foldr1": (lambda p: p.foldr1(MINUS, listed(p, XS)), functools.reduce(lambda a, x: x - a, XS[::-1])),
    "concat": (lambda p: p.concat(listed(p, XS), listed(p, [8, 9])), [*XS, 8, 9]),
    "filter": (lambda p: p.filter(unary(lambda x: x > relay.const(0)), listed(p, XS)), [3, 4, 1]),
    "zip": (
        lambda p: p.zip(listed(p, XS), listed(p, [0.5, 1.5], "float32")),
        [(3, 0.5), (-1, 1.5)],
    ),
    "rev": (lambda p: p.rev(listed(p, XS)), XS[::-1]),
    "map_accumr": (
        lambda p: p.map_accumr(binary(lambda a, x: relay.Tuple([a + x, a * x])), relay.const(2), listed(p, XS)),
        (4, [3, -2, -8, -3, -10]),
    ),
    "map_accuml": (
        lambda p: p.map_accuml(binary(lambda a, x: relay.Tuple([a + x, a * x])), relay.const(2), listed(p, XS)),
        (4, [6, -5, 16, 8, -45]),
    ),
    "unfoldr": (lambda p: p.unfoldr(countdown(p), relay.const(4)), [4, 3, 2, 1]),
    "unfoldl": (lambda p: p.unfoldl(countdown(p), relay.const(4)), [1, 2, 3, 4]),
    "sum": (lambda p: p.sum(listed(p, XS)), sum(XS)),
    "tmap": (
        lambda p: p.tmap(TWICE, tree(p, 1, tree(p, 2), tree(p, 3, tree(p, 4)))),
        ("Rose", 2, [("Rose", 4, []), ("Rose", 6, [("Rose", 8, [])])]),
    ),
    "size": (lambda p: p.size(tree(p, 1, tree(p, 2), tree(p, 3, tree(p, 4)))), 4),
}


@pytest.mark.parametrize("name", CALLS)
def test_the_prelude_computes_what_tvms_does(name: str, prelude: Any) -> None:
    build, wanted = CALLS[name]
    assert evaluate(prelude.mod, build(prelude)) == wanted


def test_the_prelude_has_what_is_tested() -> None:
    mod = relay.prelude.Prelude(None).mod
    assert {g.name_hint for g in mod.functions} == set(CALLS)
    assert [g.name_hint for g in mod.get_global_type_vars()] == ["List", "Option", "Tree"]
    with pytest.raises(UsageError, match=r"there is no 'preludes.rly'; did you mean 'prelude.rly'"):
        mod.import_from_std("preludes.rly")


def test_natural_numbers_are_added_and_doubled() -> None:
    mod = IRModule()
    relay.prelude.Prelude(mod)
    mod.import_from_std("nat.rly")
    _, z, s = mod.get_type("nat")
    one, add, double = s(z()), mod.get_global_var("nat_add"), mod.get_global_var("nat_double")
    found = relay.create_executor("vm", mod).evaluate(double(add(one, s(one))))
    depth = 0
    while found.constructor.name_hint == "S":
        assert found.tag == 1 and len(found) == 1
        found, depth = found.fields[0], depth + 1
    assert (depth, found.tag, found.fields) == (6, 0, [])


def test_one_function_is_used_with_several_types(prelude: Any) -> None:
    both = relay.Tuple(
        [
            prelude.length(listed(prelude, [1, 2])),
            prelude.length(listed(prelude, [1.0, 2.0, 3.0], "float32")),
            prelude.hd(listed(prelude, [listed(prelude, [5, 6])])),
        ]
    )
    main = relay.Function([], both)
    assert evaluate(prelude.mod, both) == (2, 3, [5, 6])
    made = IRModule({**prelude.mod.functions, relay.GlobalVar("main"): main}, prelude.mod.type_definitions)
    names = [op.sym_name.data for op in made.ir()[0].body.block.ops if isinstance(op, FuncOp)]
    assert names == ["sum", "main", "foldl", "length", "length_1", "hd"]


def test_a_list_may_be_long(prelude: Any) -> None:
    xs = relay.var("xs", relay.TypeCall(prelude.mod.get_global_type_var("List"), [relay.scalar_type(I32)]))
    n = relay.var("n", shape=(), dtype=I32)
    run = relay.create_executor("vm", prelude.mod)
    long = run.evaluate(relay.Function([n], prelude.unfoldr(countdown(prelude), n)))(3000)
    assert plain(long) == list(range(3000, 0, -1))
    assert plain(run.evaluate(relay.Function([xs], prelude.sum(xs)))(long)) == 3000 * 3001 // 2


# -- written by hand --------------------------------------------------------------------------------------------


def shapes() -> tuple[Any, Any, Any, Any]:
    """Squares with a side, and rectangles with two."""
    t, shape = relay.scalar_type("float32"), relay.GlobalTypeVar("Shape")
    square, rectangle = relay.Constructor("Square", [t], shape), relay.Constructor("Rectangle", [t, t], shape)
    mod = IRModule()
    mod[shape] = relay.TypeData(shape, [], [square, rectangle])
    return mod, shape, square, rectangle


def area(shape: Any, square: Any, rectangle: Any) -> Any:
    s, (a, b, c) = relay.Var("s", relay.TypeCall(shape, [])), map(relay.var, "abc")
    clauses = [
        relay.Clause(relay.PatternConstructor(square, [relay.PatternVar(a)]), a * a),
        relay.Clause(relay.PatternConstructor(rectangle, [relay.PatternVar(b), relay.PatternVar(c)]), b * c),
    ]
    return relay.Function([s], relay.Match(s, clauses))


def test_a_type_of_ones_own_is_taken_apart() -> None:
    mod, shape, square, rectangle = shapes()
    mod["area"] = area(shape, square, rectangle)
    at = mod.get_global_var("area")
    for made, wanted in ((square(relay.const(3.0)), 9.0), (rectangle(relay.const(2.0), relay.const(5.0)), 10.0)):
        assert evaluate(mod, at(made)) == wanted
    assert (square.tag, rectangle.tag) == (0, 1) and mod.get_constructor("Shape", "Rectangle") is rectangle
    value = relay.create_executor(mod=mod).evaluate(rectangle(relay.const(2.0), relay.const(5.0)))
    assert value.tag == 1 and [f.numpy() for f in value.fields] == [2, 5] and repr(value) == "Rectangle(2., 5.)"
    # A value that one program gave is what the next one takes.
    assert plain(relay.create_executor(mod=mod).evaluate(mod["area"])(value)) == 10


def test_variables_of_patterns_are_bound() -> None:
    _, shape, square, rectangle = shapes()
    f = area(shape, square, rectangle)
    names = [[v.name_hint for v in found] for found in
             (relay.analysis.free_vars(f.body), relay.analysis.bound_vars(f), relay.analysis.all_vars(f))]  # fmt: skip
    assert names[0] == ["s"] and sorted(names[1]) == sorted(names[2]) == ["a", "b", "c", "s"]
    assert relay.analysis.well_formed(f)
    assert f.checked_type == relay.FuncType([relay.TypeCall(shape, [])], relay.scalar_type("float32"))


def test_patterns_are_nested_and_tried_in_order(prelude: Any) -> None:
    mod = parser.parse(
        """
        def @kind(%p: (List[int32], Option[int32])) -> int32 {
          match (%p) {
            (Nil, None) => 0,
            (Cons(%a, Cons(%b, _)), Some(%c)) => %a * 100 + %b * 10 + %c,
            (Cons(%a, Nil), _) => { let %twice = %a + %a; %twice },
            %other => match? (%other.1) { Some(%v) => 0 - %v },
          }
        }
        """,
        init_module=prelude.mod,
    )
    _, some, none = mod.get_type("Option")
    kind = mod.get_global_var("kind")
    cases: list[tuple[list[int], Any, int]] = [([], None, 0), ([1, 2, 3], 4, 124), ([7], None, 14), ([7], 1, 14)]
    cases.append(([], 5, -5))
    for xs, option, wanted in cases:
        pair = relay.Tuple([listed(prelude, xs), none() if option is None else some(relay.const(option))])
        assert evaluate(mod, kind(pair)) == wanted
    with pytest.raises(InputError, match="no case fits"):
        evaluate(mod, kind(relay.Tuple([listed(prelude, [1, 2]), none()])))


def test_anything_may_be_matched() -> None:
    x, v = relay.var("x", shape=(2,)), relay.var("v")
    f = relay.Function([x], relay.Match(x, [relay.Clause(relay.PatternVar(v), v + v)]))
    assert evaluate(None, f, np.array([1, 2], "float32")) == [2, 4]
    both = relay.Tuple([x, x * x])
    a, b = relay.var("a"), relay.var("b")
    pair = relay.PatternTuple([relay.PatternVar(a), relay.PatternVar(b)])
    g = relay.Function([x], relay.Match(both, [relay.Clause(pair, b - a)]))
    assert evaluate(None, g, np.array([3, 5], "float32")) == [6, 20]


def test_a_constructor_stands_where_a_function_is_wanted(prelude: Any) -> None:
    _, some, _ = prelude.mod.get_type("Option")
    assert evaluate(prelude.mod, prelude.map(some, listed(prelude, [1, 2]))) == [("Some", 1), ("Some", 2)]


def test_a_local_function_has_type_parameters() -> None:
    mod = parser.parse(
        """
        def @main(%x: int32, %y: Tensor[(2), float32]) -> (int32, Tensor[(2), float32], int32) {
          let %first = fn [A, B](%a: A, %b: B) -> A { %a };
          let %again = fn [A](%f: fn (A) -> A, %n: int32, %a: A) -> A {
            if (%n == 0) { %a } else { %again(%f, %n - 1, %f(%a)) }
          };
          (%first(%x, %y), %first(%y, %x), %again(fn (%v: int32) -> int32 { %v + %x }, 3, 1))
        }
        """
    )
    run = relay.create_executor("vm", mod).evaluate()
    assert plain(run(4, np.array([1, 2], "float32"))) == (4, [1, 2], 13)
    identity = relay.Function([(x := relay.Var("x", a := relay.TypeVar("a")))], x, a, [a])
    assert evaluate(None, relay.Tuple([identity(relay.const(1)), identity(relay.const([1.5]))])) == (1, [1.5])
    b = relay.TypeVar("b")
    assert identity.checked_type == relay.FuncType([b], b, [b]) != relay.FuncType([b], b)


def test_type_arguments_are_said_where_nothing_else_says_them(prelude: Any) -> None:
    _, _, nil = prelude.mod.get_type("List")
    assert evaluate(prelude.mod, relay.Call(prelude.length, [nil()], None, [relay.scalar_type("int8")])) == 0
    with pytest.raises(InputError, match=r"nothing says what its type parameters are; give"):
        evaluate(prelude.mod, prelude.length(nil()))
    with pytest.raises(InputError, match="has 1 type parameters, 2 are given"):
        evaluate(prelude.mod, relay.Call(prelude.length, [nil()], None, [relay.scalar_type("int8")] * 2))


def test_results_that_are_tuples_fit_type_parameters(prelude: Any) -> None:
    pair = unary(lambda x: relay.Tuple([x, x + x]))
    assert evaluate(prelude.mod, prelude.map(pair, listed(prelude, [1, 2]))) == [(1, 2), (2, 4)]
    assert evaluate(prelude.mod, prelude.hd(prelude.map(pair, listed(prelude, [4])))) == (4, 8)
    assert evaluate(prelude.mod, prelude.id(relay.Tuple([relay.const(1), relay.const(2)]))) == (1, 2)


# -- forms ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["iterate", "map_accuml", "unfoldl", "zip"])
def test_the_text_is_read_back_as_the_same_module(name: str, prelude: Any) -> None:
    build, wanted = CALLS[name]
    functions = {g: f for g, f in prelude.mod.functions.items()}
    mod = IRModule({**functions, relay.GlobalVar("main"): relay.Function([], build(prelude))},
                   prelude.mod.type_definitions)  # fmt: skip
    again = parser.parse(mod.astext())
    assert_structural_equal(again, mod)
    assert structural_hash(again["main"]) == structural_hash(mod["main"])
    # And what a pass gives, which has an instance of each function, reads and means the same.
    after = relay.transform.FoldConstant()(mod)
    assert_structural_equal(parser.parse(after.astext()).get_type("List")[1].type_data.constructors[0].inputs[1],
                            after.get_type("List")[0](relay.TypeVar("A")))  # fmt: skip
    assert plain(relay.create_executor("vm", after).evaluate()()) == wanted
    read = parser.parse(after.astext())
    assert plain(relay.create_executor("vm", read).evaluate()()) == wanted


def test_types_are_printed_as_they_are_written() -> None:
    text = "type Tree[A] {\n  Leaf,\n  Node(A, (Tree[A], Tree[A]), fn (A) -> A),\n}\n"
    mod = parser.parse(text + "def @main() { 1 }")
    assert mod.astext().startswith('#[version = "0.0.5"]\n' + text)
    assert str(mod[mod.get_global_type_var("Tree")]) == text
    other = parser.parse(text.replace("A", "B") + "def @main() { 1 }")
    assert structural_equal(mod, other)
    assert not structural_equal(mod, parser.parse(text.replace("Leaf", "Tip") + "def @main() { 1 }"))


def test_clauses_are_told_apart() -> None:
    _, shape, square, rectangle = shapes()
    f, g = area(shape, square, rectangle), area(shape, square, rectangle)
    assert structural_equal(f, g) and structural_hash(f) == structural_hash(g)
    match = g.body
    for other in (
        relay.Match(match.data, match.clauses, complete=False),
        relay.Match(match.data, match.clauses[::-1]),
        relay.Match(match.data, [*match.clauses, relay.Clause(relay.PatternWildcard(), relay.const(0.0))]),
    ):
        assert not structural_equal(f, relay.Function(g.params, other))


def test_visitors_and_mutators_know_clauses(prelude: Any) -> None:
    class Doubled(_relay.ExprMutator):
        def visit_constant(self, const: Any) -> Any:
            return relay.const(const.data.numpy() * 2)

    length = prelude.mod["length"]
    seen: list[Any] = []
    relay.analysis.post_order_visit(length, seen.append)
    assert sum(isinstance(n, relay.Match) for n in seen) == 1
    mod = IRModule(prelude.mod.functions, prelude.mod.type_definitions)
    mod["length"] = Doubled().visit(length)
    assert evaluate(mod, mod.get_global_var("length")(listed(prelude, XS))) == 10
    assert relay.ExprMutator().visit(length) is length


def test_what_passes_leave_is_read_with_local_recursion() -> None:
    n, m, f = relay.var("n", shape=(), dtype=I32), relay.var("m", shape=(), dtype=I32), relay.var("f")
    body = relay.If(relay.equal(m, relay.const(0)), relay.const(1), m * f(m - relay.const(1)))
    mod = IRModule.from_expr(relay.Function([n], relay.Let(f, relay.Function([m], body, relay.scalar_type(I32)), f(n))))
    after = relay.transform.FoldConstant()(mod)
    read = parser.parse(after.astext())
    for each in (after, read, IRModule(after.functions)):
        assert plain(relay.create_executor("vm", each).evaluate()(5)) == 120


MISTAKES: list[tuple[str, str]] = [
    ("def @main(%x: List[int32]) -> int32 { match (%x) { Nil => 0 } }", "no case fits Cons(_, _)"),
    ("def @main(%x: List[int32]) -> int32 { match (%x) { Nil => 0, _ => 1f } }", "the clauses of a match give"),
    ("def @main(%x: int32) -> List[int32] { Cons(%x, Cons(1f, Nil)) }", "field 1 of Cons is"),
    ("def @main(%x: int32) -> List[int32] { Cons(%x) }", "the constructor Cons has 2 fields, got 1"),
    ("def @main(%x: List[int32]) -> int32 { match (%x) { Cons(%a) => %a, _ => 1 } }", "the pattern 1"),
    ("def @main(%x: List[int32]) -> int32 { match (%x) { Some(%a) => %a, _ => 1 } }", "the value of the pattern Some"),
    ("def @main(%x: List[int32]) -> List[float32] { @map(fn (%v: int32) -> int32 { %v }, %x) }", "what the function"),
    ("def @main(%x: List[int32]) -> int32 { @sum(@map(%x, %x)) }", "argument 0 is"),
    ("def @main(%x: Set[int32]) -> int32 { 1 }", "there is no data type Set"),
    ("def @main(%x: List[int32, int32]) -> int32 { 1 }", "List has 1 type parameters, 2 are given"),
    ("def @f[A](%x: A) { %x } def @main() -> int32 { @f(1) }", "its types have to be written"),
    ("def @f[A](%x: A, %n: int32) -> int32 { @f((%x, %x), %n) } def @main() -> int32 { @f(1, 1) }", "ever other types"),
    ("def @main(%x: List[int32]) -> int32 { match (%x) { Cons(%a, %a) => %a, _ => 1 } }", "%a stands twice"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "said"), MISTAKES)
def test_mistakes_are_named(text: str, said: str, prelude: Any) -> None:
    with pytest.raises(LaminaError) as caught:
        parser.parse(text, init_module=prelude.mod)
    assert said in str(caught.value)


def test_mistakes_of_nodes_are_named() -> None:
    mod, shape, square, _ = shapes()
    with pytest.raises(ValueError, match="no data type Shapes in the module; did you mean 'Shape'"):
        mod.get_type("Shapes")
    with pytest.raises(ValueError, match="Shape has no constructor Circle; it has Square, Rectangle"):
        mod.get_constructor("Shape", "Circle")
    with pytest.raises(UsageError, match="declared twice"):
        relay.TypeData(shape, [], [square, square])
    with pytest.raises(UsageError, match="begins with a pattern"):
        relay.Clause(relay.var("x"), relay.const(1))
    lone = relay.Constructor("Lone", [], relay.GlobalTypeVar("Nowhere"))
    with pytest.raises(InputError, match="belongs to Nowhere, which is not declared"):
        assert lone().checked_type
    assert tvm.relay.Prelude is relay.prelude.Prelude


def test_types_that_are_left_open_are_found_out(prelude: Any) -> None:
    open_type = relay.IncompleteType()
    data, weight = relay.Var("data", relay.TensorType((2, 3))), relay.Var("weight", open_type)
    f = relay.Function([data, weight], relay.nn.dense(data, weight, units=4), open_type)
    assert IRModule.from_expr(f)["main"].checked_type == relay.FuncType(
        [relay.TensorType((2, 3)), relay.TensorType((4, 3))], relay.TensorType((2, 4))
    )
    text = "def @main(%x: int32) -> _ { let %l: _ = Cons(%x, Nil); @length(%l) }"
    assert evaluate(prelude.mod, parser.parse(text, init_module=prelude.mod)["main"], 3) == 1


def test_rewrites_go_into_functions_of_a_module(prelude: Any) -> None:
    pattern: Any = relay.dataflow_pattern

    class Halved(DFPatternCallback):
        def __init__(self) -> None:
            super().__init__()
            self.x = pattern.wildcard()
            self.pattern = pattern.is_op("add")(pattern.is_constant(), self.x)

        def callback(self, pre: Any, post: Any, node_map: Any) -> Any:
            return node_map[self.x][0]

    # Without the 1 that is added the length is that of nothing.
    mod = IRModule(prelude.mod.functions, prelude.mod.type_definitions)
    mod["length"] = pattern.rewrite(Halved(), mod["length"], mod)
    assert mod["length"].type_params == prelude.mod["length"].type_params
    assert evaluate(mod, mod.get_global_var("length")(listed(prelude, XS))) == 0
    assert relay.analysis.list_op_freqs(mod["length"]) == {}
    with pytest.raises(InputError, match="@length is called outside of a module"):
        pattern.rewrite(Halved(), prelude.mod["length"])


def test_lets_stay_as_they_are_in_normal_form(prelude: Any) -> None:
    build, wanted = CALLS["map_accuml"]
    mod = IRModule({**prelude.mod.functions, relay.GlobalVar("main"): relay.Function([], build(prelude))},
                   prelude.mod.type_definitions)  # fmt: skip
    after = relay.transform.ToANormalForm()(mod)
    assert plain(relay.create_executor("vm", after).evaluate()()) == wanted
    calls = [n for n in post_order(after["main"]) if isinstance(n, relay.Call)]
    assert calls and all(isinstance(a, (relay.Var, relay.Constant)) for c in calls for a in c.args)
