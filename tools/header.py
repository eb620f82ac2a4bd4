"""`lamina.h`, the C interface of exported nets, written from its declaration in `backends/cpu/runtime/interface.py`.

python -m tools.header [--check]
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from lamina.backends.cpu.runtime.interface import ABI, CODES, RECORDS, Member

PATH = Path(__file__).resolve().parents[1] / "lamina" / "runtime" / "include" / "lamina.h"

_HEAD = """\
/* lamina.h: the interface of nets that Lamina has exported, for C99, C++11 and what can call C.

   A library has one symbol, `const lamina_net lamina_<name>`. All memory is the caller's:

     uint64_t bytes;
     net->sizes(NULL, threads, NULL, &bytes);
     void *state = aligned_alloc(net->alignment, bytes);
     net->start(state, NULL, threads, LAMINA_SPINS);
     int32_t code = net->run(state, inputs, outputs);    (0, or what net->text(code) says)
     net->stop(state);

   A state is for one call at a time; several states of one net may run at the same time. The elements of a tensor lie
   one behind the other in order, the first at a multiple of their size; outputs share no memory with other tensors.
   Records grow at their end: `net->bytes` says which members a library has. Written by `python -m tools.header`. */

#ifndef LAMINA_H
#define LAMINA_H

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

#ifdef DLPACK_DLPACK_H_ /* include dlpack.h first */

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

/* One inference on tensors of DLPack; `pointers` has room for n_inputs + n_outputs of them. */
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

#endif /* DLPACK_DLPACK_H_ */

#ifdef __cplusplus
}
#endif

#endif /* LAMINA_H */
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
        + "#define LAMINA_SPINS 5000 /* of `start`; 0 where threads are more than processors */\n\n"
        + _BODY
        + f"/* Of a call that was wrong; codes above zero are the net's own. */\nenum lamina_code {{\n{codes}}};\n\n"
        + "".join(_record(*record) for record in RECORDS.items())
        + _TAIL
    )


def main() -> int:
    """Write the header, or with `--check` say whether it is up to date."""
    if "--check" in sys.argv[1:]:
        if PATH.read_text("utf-8") != header():
            print(f"{PATH.name} is not what `python -m tools.header` writes", file=sys.stderr)
            return 1
        return 0
    PATH.write_text(header(), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
