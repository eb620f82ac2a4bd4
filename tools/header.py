"""`lamina.h` and `lamina.rs`, the interface of exported nets for C and for Rust: `backends/cpu/runtime/interface.py`.

python -m tools.header [--check]
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence

from lamina.backends.cpu.runtime.interface import ABI, CODES, OPEN, RECORDS, Member, record_bytes
from lamina.runtime.headers import INCLUDE
from lamina.runtime.program import DEFAULT_SPINS

PATH, RUST = INCLUDE / "lamina.h", INCLUDE / "lamina.rs"

_HEAD = """\
/* lamina.h: the interface of nets that Lamina has exported, for C99, C++11 and what can call C.

   A library has one symbol, `const lamina_net lamina_<name>`. All memory is the caller's:

     uint64_t bytes;
     net->sizes(NULL, threads, NULL, &bytes);
     void *state = aligned_alloc(net->alignment, bytes);
     net->start(state, NULL, threads, LAMINA_SPINS);
     int32_t code = net->run(state, inputs, outputs);    (0, or what net->text(code) says)
     net->stop(state);

   Where `lamina_packs(net)`, as for nets of `lamina compile --small`, weights are packed once, into memory that all
   states share until the last `stop`; the room, of room_bytes at a multiple of 64, is the caller's again at once:

     void *params = aligned_alloc(net->alignment, net->params_bytes);
     code = net->pack(params, room);                     (then net->start(state, params, threads, LAMINA_SPINS))

   Where extents are open, as `lamina_opens(net)` says, the shapes of the inputs tell all others and the bytes of a
   state, which then is for all shapes that need no more:

     int64_t x[] = {3, 128}, *const shapes[] = {x}, y[2], *const results[] = {y};
     code = net->sizes(shapes, threads, results, &bytes);
     code = net->run_shapes(state, bytes, shapes, inputs, outputs);

   A state is for one call at a time; several states of one net may run at the same time. The elements of a tensor lie
   one behind the other in order, the first at a multiple of their size; outputs share no memory with other tensors.
   Records grow at their end: `net->bytes` says which members a library has. Written by `python -m tools.header`. */

#ifndef LAMINA_H
#define LAMINA_H

#include <stddef.h>
#include <stdint.h>

"""

_BODY = """\
#ifdef __cplusplus
extern "C" {
#endif

"""

_TAIL = """\
/* 0, or LAMINA_ABI where the library is of another version than this header. */
static inline int32_t lamina_check(const lamina_net *net) {
  return net->abi == LAMINA_VERSION ? 0 : LAMINA_ABI;
}

/* Whether `pack` has to make the weights that `start` takes. */
static inline int lamina_packs(const lamina_net *net) {
  return net->bytes >= offsetof(lamina_net, pack) + sizeof net->pack && net->pack;
}

/* Whether extents are open, so that `run_shapes` is called and not `run`. */
static inline int lamina_opens(const lamina_net *net) {
  return net->bytes >= offsetof(lamina_net, run_shapes) + sizeof net->run_shapes && net->run_shapes;
}

#ifdef __cplusplus
}
#endif

#endif /* LAMINA_H */

/* For tensors of DLPack, where dlpack.h is included first. */
#if defined(DLPACK_DLPACK_H_) && !defined(LAMINA_H_DLPACK)
#define LAMINA_H_DLPACK

#ifdef __cplusplus
extern "C" {
#endif

/* 0, or a code where a tensor of DLPack does not fit a port. */
static inline int32_t lamina_check_dl(const lamina_port *port, const DLTensor *tensor) {
  int64_t stride = 1;
  uint64_t first = (uint64_t)(uintptr_t)tensor->data + tensor->byte_offset;
  if (tensor->device.device_type != kDLCPU) return LAMINA_DEVICE;
  if (tensor->dtype.code != port->code || tensor->dtype.bits != port->bits || tensor->dtype.lanes != port->lanes)
    return LAMINA_TYPE;
  if (tensor->ndim != port->ndim) return LAMINA_SHAPE;
  for (int32_t d = port->ndim; d-- > 0;) {
    if (port->shape[d] >= 0 && tensor->shape[d] != port->shape[d]) return LAMINA_SHAPE;
    if (tensor->strides && tensor->shape[d] != 1 && tensor->strides[d] != stride) return LAMINA_STRIDES;
    stride *= tensor->shape[d];
  }
  return first % (port->bits > 8 ? port->bits / 8 : 1) ? LAMINA_UNALIGNED : 0;
}

/* One inference on tensors of DLPack where no extent is open; `pointers` has room for n_inputs + n_outputs of them. */
static inline int32_t lamina_run_dl(const lamina_net *net, void *state, const DLTensor *const *inputs,
                                    DLTensor *const *outputs, void **pointers) {
  for (uint32_t n = 0; n < net->n_inputs + net->n_outputs; n++) {
    const int is_input = n < net->n_inputs;
    const lamina_port *port = is_input ? &net->inputs[n] : &net->outputs[n - net->n_inputs];
    const DLTensor *tensor = is_input ? inputs[n] : outputs[n - net->n_inputs];
    const int32_t code = lamina_check_dl(port, tensor);
    if (code) return code;
    pointers[n] = (char *)tensor->data + tensor->byte_offset;
  }
  return net->run(state, (const void *const *)pointers, pointers + net->n_inputs);
}

#ifdef __cplusplus
}
#endif

#endif /* LAMINA_H_DLPACK */
"""


def _record(name: str, members: Sequence[Member]) -> str:
    rows = "".join(f"  /* {m.what} */\n  {m.c.replace('@', m.name)};\n" for m in members)
    return f"typedef struct {name} {{\n{rows}}} {name};\n\n"


def header() -> str:
    """The text of `lamina.h`."""
    codes = "".join(f"  LAMINA_{c.name} = {c.number}, /* {c.text} */\n" for c in CODES)
    return (
        _HEAD
        + f"#define LAMINA_VERSION {ABI}u\n"
        + f"#define LAMINA_SPINS {DEFAULT_SPINS} /* of `start`; 0 where threads are more than processors */\n"
        + "#define LAMINA_OPEN INT64_MIN /* in the place of an extent that the shapes of a call tell */\n\n"
        + _BODY
        + f"/* Of a call that was wrong; codes above zero are the net's own. */\nenum lamina_code {{\n{codes}}};\n\n"
        + "".join(_record(*record) for record in RECORDS.items())
        + _TAIL
    )


_RUST_HEAD = """\
// lamina.rs: the interface of nets that Lamina has exported, for Rust. No crate is needed:
//
//     mod lamina { include!(concat!(env!("LAMINA_INCLUDE"), "/lamina.rs")); }
//
// A library has one symbol, `static lamina_<name>: lamina_net`. lamina.h says how its functions are called: all memory
// is the caller's, and a state is for one call at a time. Written by `python -m tools.header`.

use core::ffi::{c_char, c_void};

"""

_RUST_TYPES = {"char": "c_char", "void": "c_void"}
_RUST_LINE = 120
_FUNCTION = re.compile(r"(.*)\(\*@\)\((.*)\)")


def rust_type(c: str) -> str:
    """The type in Rust of a declaration in C without its name: `const void *const *`, `uint32_t`."""
    words = c.replace("*", " * ").split()
    const = words[0] == "const"
    base = words[const]
    number = re.fullmatch(r"(u?)int(\d+)_t", base)
    found = f"{number[1] or 'i'}{number[2]}" if number else _RUST_TYPES.get(base, base)
    for word in words[const + 1 :]:
        if word == "*":
            found = f"*{'const' if const else 'mut'} {found}"
        const = word == "const"
    return found


def _rust_member(member: Member) -> str:
    found = _rust_pointer(member)
    return f"Option<{found}>" if member.optional else found


def _rust_pointer(member: Member) -> str:
    function = _FUNCTION.fullmatch(member.c)
    if function is None:
        return rust_type(member.c.removesuffix("@"))
    pairs = [re.fullmatch(r"(.*?)(\w+)", a.strip()) for a in function[2].split(",")]
    taken = [f"{pair[2]}: {rust_type(pair[1])}" for pair in pairs if pair is not None]
    given = "" if function[1].strip() == "void" else f" -> {rust_type(function[1])}"
    line = f'unsafe extern "C" fn({", ".join(taken)}){given}'
    if len(f"    pub {member.name}: {line},") <= _RUST_LINE:
        return line
    rows = "".join(f"        {t},\n" for t in taken)
    return f'unsafe extern "C" fn(\n{rows}    ){given}'


def _rust_record(name: str, members: Sequence[Member]) -> str:
    rows = "".join(f"    /// {m.what}\n    pub {m.name}: {_rust_member(m)},\n" for m in members)
    wide, narrow = record_bytes(tuple(members), 8), record_bytes(tuple(members), 4)
    size = f'if cfg!(target_pointer_width = "64") {{ {wide} }} else {{ {narrow} }}'
    check = f"const _: () = assert!(core::mem::size_of::<{name}>() == {size});\n"
    return f"#[repr(C)]\n#[allow(non_camel_case_types)]\npub struct {name} {{\n{rows}}}\n\n{check}\n"


def rust() -> str:
    """The text of `lamina.rs`."""
    codes = "".join(f"/// {c.text}\npub const LAMINA_{c.name}: i32 = {c.number};\n" for c in CODES)
    return (
        _RUST_HEAD
        + f"pub const LAMINA_VERSION: u32 = {ABI};\n"
        + f"/// of `start`; 0 where threads are more than processors\npub const LAMINA_SPINS: i64 = {DEFAULT_SPINS};\n"
        + f"/// in the place of an extent that the shapes of a call tell\npub const LAMINA_OPEN: i64 = {OPEN};\n"
        + codes
        + "\n"
        + "".join(_rust_record(*record) for record in RECORDS.items())
        + "// All in it is constant.\nunsafe impl Sync for lamina_net {}\n"
    )


def main() -> int:
    """Write the files, or with `--check` say whether they are up to date."""
    texts = {PATH: header(), RUST: rust()}
    if "--check" in sys.argv[1:]:
        old = [path.name for path, text in texts.items() if not path.exists() or path.read_text("utf-8") != text]
        for name in old:
            print(f"{name} is not what `python -m tools.header` writes", file=sys.stderr)
        return 1 if old else 0
    for path, text in texts.items():
        path.write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
