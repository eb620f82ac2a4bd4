"""A whole net as C source: its kernels, its weights, and the record `lamina_<name>` of `lamina.h`.

    static const struct weights weights = { .w0 = {{0x3f800000, ...}}, ... };
    static int32_t run(void *state, const void *const *inputs, void *const *outputs) { ... }
    const lamina_net lamina_<name> = { .abi = LAMINA_VERSION, ... };

Weights are written as the bits of their elements. Those of more than `WEIGHTS_IN_TEXT` bytes are left to a file of
their own, whose bytes are those of `struct weights`: compilers take some two hundred bytes of memory for each number.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.dialects.func import FuncOp as MainOp
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Attribute, Operation, SSAValue

from lamina.backends.c.emit import ALIGNMENT, TAKEN, element_type, head_of, kernel_text
from lamina.backends.c.expressions import without_rule
from lamina.backends.c.source import Names, c_string
from lamina.dialects.dtypes import bytes_of_type, dtype_name, itemsize
from lamina.dialects.tir.memory import type_of
from lamina.dialects.tir.ops import AllocOp, CallOp, CopyOp, FuncOp, ParamOp, ViewOp
from lamina.passes.relay.partition.external_backends import is_declaration

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, np.dtype[Any]]

WEIGHTS_IN_TEXT = 16 << 20
"""The most bytes of weights in the text: of these GCC takes half a minute and a gigabyte of memory."""
_OWN_NAMES = frozenset(
    "weights memory inputs outputs arena code run start stop sizes text params threads spins state_bytes main".split()
)
NAMES_OF_HEADER = frozenset("net port check packs opens check_dl run_dl".split())
"""Names that `lamina.h` declares, without `lamina_`."""
_PER_PIECE = 1 << 16
"""Numbers of a weight that are written at once."""


class SourcePort(NamedTuple):
    """An input or output of a net: its element type as DLPack's code and bits."""

    name: str
    shape: tuple[int, ...]
    code: int
    bits: int


class SourceNet:
    """A net to be written: the module at the tir level, and what the record says beside it.

    `codes` are the texts of the codes of calls by number, below zero, and `unknown` what is said of all others; `ports`
    gives the ports of arguments of `@main`. Raises UnsupportedError for an op without a rule.
    """

    def __init__(
        self,
        name: str,
        module: ModuleOp,
        built_by: str,
        target: str,
        codes: Mapping[int, str],
        unknown: str,
        ports: Callable[[MainOp, Sequence[SSAValue]], Sequence[SourcePort]],
    ) -> None:
        self.name, self.module, self.built_by, self.target = name, module, built_by, target
        self.codes, self.unknown = codes, unknown
        self.messages: dict[str, int] = {}
        """The messages of checks, and their codes."""
        names = Names(TAKEN | _OWN_NAMES)
        kernels = [op for op in module.ops if isinstance(op, FuncOp)]
        self.kernels = {k.sym_name.data: kernel_text(k, names, self.messages) for k in kernels}
        self.main = next(op for op in module.ops if isinstance(op, MainOp) and not is_declaration(op))
        arguments = list(self.main.body.block.args)
        count = self.main.attributes["lamina.outputs"]
        assert isinstance(count, IntegerAttr)
        first = len(arguments) - count.value.data
        self.inputs, self.outputs = ports(self.main, arguments[:first]), ports(self.main, arguments[first:])
        self.body = _Main(self)
        self.params = list(self.body.params)
        """The weights that the net reads, in the order of its file of weights."""

    @property
    def is_text_alone(self) -> bool:
        """Whether the weights stand in the text."""
        return self.params_bytes <= WEIGHTS_IN_TEXT

    @property
    def params_bytes(self) -> int:
        """Bytes of `struct weights`."""
        return sum(_room(p) for p in self.body.params.values())

    def weight_bytes(self, arrays: Sequence[Array]) -> Iterator[bytes | memoryview]:
        """`struct weights` as bytes, for a file of its own."""
        for array, value in zip(arrays, self.body.params.values(), strict=True):
            yield array.reshape(-1).view("uint8").data if array.size else b""
            yield bytes(_room(value) - array.nbytes)

    def pieces(self, arrays: Sequence[Array]) -> Iterator[bytes]:
        """The text, piece by piece, for the values of `params`."""
        head = head_of([k.text for k in self.kernels.values()], self.module)
        yield "\n".join([_HEAD.format(built_by=self.built_by, name=self.name), *self._header(), "", head, ""]).encode()
        for kernel in self.kernels.values():
            yield (kernel.text + "\n").encode()
        yield from self._weights(arrays)
        yield "\n".join(
            [*self._state(), "", *self.body.lines, *self._ports(), *self._functions(), *self._record(), ""]
        ).encode()

    def _header(self) -> list[str]:
        """The include of `lamina.h`, whose own names give way to that of the net."""
        include = '#include "lamina.h"'
        if self.name not in NAMES_OF_HEADER:
            return [include]
        own = f"lamina_{self.name}"
        return [f"#define {own} {self._of_header(self.name)}", include, f"#undef {own}"]

    def _of_header(self, name: str) -> str:
        return f"lamina_{name}_of_header" if name == self.name else f"lamina_{name}"

    # -- weights -------------------------------------------------------------------------------------------------------

    def _weights(self, arrays: Sequence[Array]) -> Iterator[bytes]:
        if not self.params:
            return
        lines = ["/* The weights. */", "struct weights {"]
        for n, (attr, value) in enumerate(self.body.params.items()):
            count, element = max(prod(type_of(value).get_shape()), 1), element_type(value, self.main)
            bits = 8 * itemsize(dtype_name(type_of(value).element_type))
            key = getattr(getattr(attr, "key", None), "data", "")
            pun = f"uint{bits}_t bits[{count}]; {element} at[{count}];"
            lines.append(f"  _Alignas({ALIGNMENT}) union {{ {pun} }} w{n};{_comment(key)}")
        yield "\n".join([*lines, "};", ""]).encode()
        if not self.is_text_alone:
            return
        yield b"static const struct weights weights = {\n"
        for n, array in enumerate(arrays):
            yield f"  .w{n} = {{{{\n".encode()
            yield from _numbers(array)
            yield b"  }},\n"
        yield b"};\n\n"

    # -- functions -----------------------------------------------------------------------------------------------------

    def _state(self) -> list[str]:
        """The layout of a state."""
        arena, work = _lines(self.body.arena), max((k.work for k in self.kernels.values()), default=0)
        digest = hashlib.sha256("".join(k.text for k in self.kernels.values()).encode() + self.name.encode())
        self.work_at = ALIGNMENT + arena
        return [
            "/* A state: this, then the memory between kernels, then that within one. */",
            "struct state {",
            "  uint64_t started;",
            "  const void *params;",
            "};",
            f"#define STARTED 0x{int.from_bytes(digest.digest()[:8], 'little') >> 1:016x}u",
            f"#define ARENA {ALIGNMENT}",
            f"#define WORK {ALIGNMENT + arena}",
            f"#define STATE_BYTES {ALIGNMENT + arena + _lines(work)}",
        ]

    def _functions(self) -> list[str]:
        own = "&weights" if self.params and self.is_text_alone else "NULL"
        needs = "" if own == "&weights" or not self.params else "  if (params == NULL) return LAMINA_NO_PARAMS;\n"
        below = "".join(f"    case {n}: return {c_string(t)};\n" for n, t in self.codes.items())
        above = "".join(f"    case {n}: return {c_string(t)};\n" for t, n in self.messages.items())
        return [
            _FUNCTIONS.format(
                count=len(self.outputs),
                needs=needs,
                own=own,
                texts=below + above,
                unknown=c_string(self.unknown),
            )
        ]

    def _ports(self) -> list[str]:
        lines: list[str] = []
        for side, ports in (("inputs", self.inputs), ("outputs", self.outputs)):
            lines.append(f"static const {self._of_header('port')} {side[:-1]}_ports[] = {{")
            lines += [f"  {_port(p)}," for p in ports] or ["  {NULL, NULL, 0, 0, 0, 0, 0},"]
            lines += ["};", ""]
        return lines

    def _record(self) -> list[str]:
        own = bool(self.params) and self.is_text_alone
        values = {
            "abi": "LAMINA_VERSION",
            "bytes": f"sizeof({self._of_header('net')})",
            "name": c_string(self.name),
            "target": c_string(self.target),
            "built_by": c_string(self.built_by),
            "inputs": "input_ports",
            "outputs": "output_ports",
            "n_inputs": str(len(self.inputs)),
            "n_outputs": str(len(self.outputs)),
            "threads": "1",
            "alignment": str(ALIGNMENT),
            "params_bytes": "sizeof(struct weights)" if self.params else "0",
            "params": "&weights" if own else "NULL",
            **{name: name for name in ("sizes", "start", "run", "stop", "text")},
        }
        members = [f"  .{name} = {value}," for name, value in values.items()]
        return [f"const {self._of_header('net')} lamina_{self.name} = {{", *members, "};"]


def _lines(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT


def _room(weight: SSAValue) -> int:
    """The bytes of a weight in `struct weights`, up to the next one."""
    return _lines(max(bytes_of_type(weight.type), 1))


def _comment(text: str) -> str:
    plain = "".join(c if c.isascii() and c.isprintable() and c not in "*?" else "_" for c in text)
    return f" /* {plain} */" if text else ""


def _shape(port: SourcePort) -> str:
    return f"(const int64_t[]){{{', '.join(map(str, port.shape)) or '0'}}}"


def _port(port: SourcePort) -> str:
    size = prod(port.shape) * port.bits // 8
    return f"{{{c_string(port.name)}, {_shape(port)}, {size}, {len(port.shape)}, {port.code}, {port.bits}, 1}}"


def _numbers(array: Array) -> Iterator[bytes]:
    """The bits of the elements as hexadecimal numbers, eight bytes or more of them in a line."""
    import numpy as np

    flat = array.reshape(-1)
    width = flat.dtype.itemsize
    bits = flat.view(f"u{width}").astype(f">u{width}")
    digits = np.frombuffer(b"0123456789abcdef", np.uint8)
    per_line = 64 // width
    for start in range(0, max(bits.size, 1), _PER_PIECE):
        piece = np.frombuffer(bits[start : start + _PER_PIECE].tobytes() or bytes(width), np.uint8)
        text = np.empty((piece.size // width, 2 * width + 3), np.uint8)
        text[:, 0], text[:, 1], text[:, -1] = ord("0"), ord("x"), ord(",")
        rows = piece.reshape(-1, width)
        text[:, 2:-1:2], text[:, 3:-1:2] = digits[rows >> 4], digits[rows & 15]
        whole = len(text) // per_line * per_line
        lines = text[:whole].reshape(-1, per_line * text.shape[1])
        ends = np.full((len(lines), 1), ord("\n"), np.uint8)
        yield np.concatenate([lines, ends], axis=1).tobytes()
        if whole < len(text):
            yield text[whole:].tobytes() + b"\n"


# -- @main ---------------------------------------------------------------------------------------------------------


class _Main:
    """The calls of a net, one behind the other."""

    def __init__(self, net: SourceNet) -> None:
        self.net = net
        self.params: dict[Attribute, SSAValue] = {}
        self.arena = 0
        self.texts: dict[SSAValue, tuple[str, bool]] = {}
        """Each buffer as a pointer to void, and whether it is one to constants."""
        first = len(net.inputs)
        for n, value in enumerate(net.main.body.block.args):
            self.texts[value] = (f"inputs[{n}]", True) if n < first else (f"outputs[{n - first}]", False)
        calls: list[str] = []
        for op in net.main.body.block.ops:
            rule = _MAIN.get(type(op))
            if rule is None:
                raise without_rule(op)
            calls += rule(self, op)
        text = "\n".join(calls)
        uses = [("inputs[", "inputs"), ("outputs[", "outputs")]
        self.lines = [
            "static int32_t run(void *state, const void *const *inputs, void *const *outputs) {",
            "  struct state *head = state;",
            "  if (head->started != STARTED) return LAMINA_NO_STATE;",
            *(["  const struct weights *w = head->params;"] if "w->" in text else []),
            *(["  unsigned char *arena = (unsigned char *)state + ARENA;"] if "arena" in text else []),
            *(["  unsigned char *work = (unsigned char *)state + WORK;"] if "work)" in text else []),
            *(["  int32_t code;"] if "code" in text else []),
            *(f"  (void){name};" for use, name in uses if use not in text),
            *calls,
            "  return 0;",
            "}",
            "",
        ]

    def pointer(self, value: SSAValue, op: Operation, reads: bool) -> str:
        """A buffer as a pointer to its elements."""
        text, is_constant = self.texts[value]
        if text.startswith("w->"):
            return text
        const = "const " if reads and is_constant else ""
        return f"({const}{element_type(value, op)} *){text}"


def _arena(m: _Main, op: AllocOp) -> list[str]:
    if m.arena or op.sizes:
        raise without_rule(op, " beside the arena")
    m.arena = bytes_of_type(op.result.type)
    m.texts[op.result] = "arena", False
    return []


def _view(m: _Main, op: ViewOp) -> list[str]:
    at = op.offset.value.data
    m.texts[op.result] = f"(void *)(arena + {at})" if at else "(void *)arena", False
    return []


def _param(m: _Main, op: ParamOp) -> list[str]:
    value = op.results[0]
    m.params.setdefault(op.param, value)
    m.texts[value] = f"w->w{list(m.params).index(op.param)}.at", True
    return []


def _call(m: _Main, op: CallOp) -> list[str]:
    callee = m.net.kernels.get(op.callee.string_value())
    if callee is None:
        raise without_rule(op, f" of the external function @{op.callee.string_value()}")
    given = [m.pointer(op.arguments[n], op, reads=True) for n in callee.taken]
    call = f"{callee.name}({', '.join([*given, *(['work'] if callee.work else [])])})"
    return [f"  if ((code = {call}) != 0) return code;" if callee.checks else f"  {call};"]


def _copy(m: _Main, op: CopyOp) -> list[str]:
    element, count = element_type(op.target, op), prod(type_of(op.target).get_shape())
    source, target = m.pointer(op.source, op, reads=True), m.pointer(op.target, op, reads=False)
    return [f"  for (size_t n = 0; n < {count}; ++n) ({target})[n] = ({source})[n];" if element else ""]


def _return(m: _Main, op: ReturnOp) -> list[str]:
    return []


_MAIN: dict[type[Operation], Callable[[_Main, Any], list[str]]] = {
    AllocOp: _arena,
    ViewOp: _view,
    ParamOp: _param,
    CallOp: _call,
    CopyOp: _copy,
    ReturnOp: _return,
}
"""Rules of the ops of `@main`."""

_HEAD = """\
/* The net {name}, written by {built_by}: C11, for `cc -O3 -march=native -fno-math-errno -fno-trapping-math`. */
"""

_FUNCTIONS = """\
static int32_t sizes(const int64_t *const *inputs, uint32_t threads, int64_t *const *outputs, uint64_t *state_bytes) {{
  (void)inputs;
  (void)threads;
  if (outputs != NULL)
    for (int32_t n = 0; n < {count}; ++n)
      for (int32_t d = 0; d < output_ports[n].ndim; ++d) outputs[n][d] = output_ports[n].shape[d];
  if (state_bytes != NULL) *state_bytes = STATE_BYTES;
  return 0;
}}

static int32_t start(void *state, const void *params, uint32_t threads, int64_t spins) {{
  struct state *head = state;
  (void)threads;
  (void)spins;
  if ((uintptr_t)state % 64 != 0) return LAMINA_UNALIGNED_STATE;
  if ((uintptr_t)params % 64 != 0) return LAMINA_UNALIGNED_PARAMS;
{needs}  head->params = params != NULL ? params : {own};
  head->started = STARTED;
  return 0;
}}

static void stop(void *state) {{
  struct state *head = state;
  if (head->started == STARTED) head->started = 0;
}}

static const char *text(int32_t code) {{
  switch (code) {{
{texts}    default: return {unknown};
  }}
}}
"""
