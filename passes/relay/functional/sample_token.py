"""relay-sample-token: the next token of a language model is found by the program itself.

Before:
    func.func @main(%ids: tensor<2x?xi64, #relay.dims<_, s>> {lamina.name = "ids"})
        -> (tensor<2x?x50xf32, #relay.dims<_, s, _>> {lamina.name = "logits"})
After, with {top-k=4 temperature=0.5}:
    func.func @main(%ids: ..., %token_key: tensor<10xui64> {lamina.name = "token_key"})
        -> (..., tensor<2x1xi64> {lamina.name = "token"}, tensor<10xui64> {lamina.name = "token_key:next"})
      %last = relay.strided_slice %logits {axes = [1], begin = [s - 1], end = [s]}
      %values, %places = relay.topk %last {k = 4}
      %sums = relay.cumsum (relay.nn.softmax (%values * 2.0))
      %next, %u = relay.random.uniform %token_key, 0.0, 1.0
      %token = relay.gather %places, (the number of %sums that are not above %u)

It is the likeliest one with `top-k` 1 (greedy search), else one of so many by the probabilities that they have among
each other at a `temperature` (Fan, Lewis and Dauphin, "Hierarchical Neural Story Generation", 2018). The key of the
random numbers is state that begins with a `seed`: two sessions draw the same. Logits are [batch, rows, vocabulary], of
which the last row counts, or [batch, vocabulary]; the batch is a number.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.builder import Builder
from xdsl.dialects import func
from xdsl.dialects.builtin import FunctionType
from xdsl.ir import SSAValue
from xdsl.rewriter import InsertPoint

from lamina.dialects import edit
from lamina.dialects import relay as r
from lamina.dialects.dtypes import tensor_type
from lamina.dialects.entry_names import argument_names, named_attrs, result_names
from lamina.dialects.index.symbol_ranges import narrowed
from lamina.dialects.index.symbols import Guard, SymbolicExtent, Symbols, with_symbols
from lamina.dialects.infos import TensorInfo, is_symbolic, tensor_info
from lamina.dialects.relay.base import scalar_constant
from lamina.dialects.relay.program_state import STATE, StateVariable, state_attribute, state_of
from lamina.dialects.relay.random.threefry import KEY, threefry_key
from lamina.dialects.relay.symbolic import module_symbols, state_symbols, symbolic_info
from lamina.dialects.rules.terms import insert, inserting
from lamina.errors import UnsupportedError, UsageError, did_you_mean
from lamina.passes.base import Context, ModuleOp, ModulePass


@dataclass(frozen=True)
class SampleToken(ModulePass):
    """The next token of a language model as one more result."""

    name = "relay-sample-token"
    opt_level: ClassVar[int] = 0

    top_k: int = 1
    """The number of tokens that one is drawn from."""
    temperature: float = 1.0
    seed: int = 0
    logits: str = "logits"
    """The result that has the logits."""
    token: str = "token"
    """The name of the new result."""
    dtype: str = "int64"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.top_k < 1 or not self.temperature > 0 or not 0 <= self.seed < 1 << 64:
            raise UsageError(f"{self.name}: top-k is at least 1, the temperature above 0, the seed from 0 to 2^64 - 1")
        if self.dtype not in ("int32", "int64") or not self.token.isidentifier():
            raise UsageError(f"{self.name}: tokens are int32 or int64, and go by a plain name")
        mains = [f for f in op.ops if isinstance(f, func.FuncOp) and f.sym_name.data == "main" and f.body.blocks]
        if not mains:
            raise UsageError(f"{self.name}: the module has no @main")
        (main,) = mains
        symbols = self._with_rows(op, main)
        with edit.transaction(op):
            if symbols is None:
                self.sample(main)
            else:
                with with_symbols(symbols):
                    self.sample(main)

    def _with_rows(self, module: ModuleOp, main: func.FuncOp) -> Symbols | None:
        """The symbols of a module, for those of whose values there is a last row."""
        symbols, returned = module_symbols(module), main.get_return_op()
        if symbols is None or returned is None:
            return symbols
        names = result_names(main, len(returned.arguments), list(returned.arguments))
        infos = [
            symbolic_info(v.type, symbols) for n, v in zip(names, returned.arguments, strict=True) if n == self.logits
        ]
        rows = infos[0].shape[1] if infos and infos[0] is not None and len(infos[0].shape) == 3 else 1
        if not isinstance(rows, SymbolicExtent) or rows.at_least(1):
            return symbols
        smaller = narrowed(symbols, {}, [Guard(rows.form - 1, "ge")])
        with edit.transaction(module):
            edit.change(module)
            state_symbols(module, smaller)
        return smaller

    def sample(self, main: func.FuncOp) -> None:
        """Add the result to a function, and the key of its random numbers."""
        block = main.body.block
        returned = main.get_return_op()
        assert returned is not None
        results, values = result_names(main, len(returned.arguments), list(returned.arguments)), returned.arguments
        arguments = argument_names(main, block.args)
        if self.logits not in results:
            hint = did_you_mean(self.logits, results) or f"the results are {', '.join(results)}"
            raise UsageError(f"{self.name}: there is no result {self.logits!r}", hint=hint)
        logits = values[results.index(self.logits)]
        key = f"{self.token}_key"
        for name in (self.token, *((key, f"{key}:next") if self.top_k > 1 else ())):
            if name in (*results, *arguments):
                raise UsageError(f"{self.name}: there is a {name!r} already", hint="give the token another name")
        self._check(tensor_info(logits.type))
        added: list[SSAValue] = []
        with inserting(Builder(InsertPoint.before(returned))):
            last = _last_row(logits)
            if self.top_k == 1:
                added.append(r.cast(r.argmax(last, axis=(2,)), dtype=self.dtype))
            else:
                state = block.insert_arg(tensor_type(KEY.shape, KEY.dtype), len(block.args))
                state.name_hint = key
                added += self._drawn(last, state)
        edit.insert_before(returned, func.ReturnOp(*values, *added))
        edit.erase(returned)
        named = [self.token, *([f"{key}:next"] if self.top_k > 1 else [])]
        main.properties["res_attrs"] = named_attrs(main.properties.get("res_attrs"), [*results, *named])
        if self.top_k > 1:
            main.properties["arg_attrs"] = named_attrs(main.properties.get("arg_attrs"), [*arguments, key])
            kept = StateVariable(key, f"{key}:next", threefry_key(self.seed))
            main.attributes[STATE] = state_attribute([*state_of(main), kept])
        types = [a.type for a in block.args], [v.type for v in (*values, *added)]
        main.properties["function_type"] = FunctionType.from_lists(*types)

    def _check(self, info: TensorInfo) -> None:
        """Raises UnsupportedError for what are no logits."""
        shape = info.shape
        if info.dtype not in ("float32", "float64") or len(shape) not in (2, 3) or is_symbolic(shape[-1]):
            what = "logits are float32 or float64 [batch, rows, vocabulary]"
            raise UnsupportedError(f"{self.name}: {self.logits!r} is {info.dtype} of rank {len(shape)}; {what}")
        if is_symbolic(shape[0]) or not shape[0]:
            raise UnsupportedError(f"{self.name}: the batch is not known, or none", hint='give it: shapes={"batch": 1}')
        if self.top_k > shape[-1]:
            raise UsageError(f"{self.name}: top-k is {self.top_k}, there are {shape[-1]} tokens")

    def _drawn(self, last: SSAValue, key: SSAValue) -> list[SSAValue]:
        """The token [batch, 1] that the last row [batch, 1, vocabulary] and a key give, and the next key."""
        info = tensor_info(last.type)
        values, places = r.topk(last, k=self.top_k, axis=2, ret_type="both", dtype="int32")
        sums = r.cumsum(r.nn.softmax(r.multiply(values, 1 / self.temperature), axis=2), axis=2)
        following, drawn = r.random.uniform(
            key, _number(0.0, last), _number(1.0, last), out_shape=(info.shape[0], 1, 1), out_dtype=info.dtype
        )
        below = r.sum(r.cast(r.less_equal(sums, drawn), dtype="int32"), axis=(2,), keepdims=True)
        # Sums may end a little below 1.
        place = r.minimum(below, self.top_k - 1)
        return [r.cast(r.squeeze(r.gather(places, place, axis=2), axis=(2,)), dtype=self.dtype), following]


def _last_row(logits: SSAValue) -> SSAValue:
    """The last row of each batch: [batch, 1, vocabulary]."""
    shape = tensor_info(logits.type).shape
    if len(shape) == 2:
        return r.expand_dims(logits, axis=1)
    return r.strided_slice(logits, begin=(shape[1] - 1,), end=(shape[1],), strides=(1,), axes=(1,))


def _number(value: float, like: SSAValue) -> SSAValue:
    """A constant of the element type of a tensor."""
    op = scalar_constant(value, like)
    insert(op)
    return op.results[0]
