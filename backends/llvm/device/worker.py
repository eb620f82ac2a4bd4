"""A process that turns LLVM assembly on stdin into a GPU's code on stdout.

    python -m lamina.backends.llvm.device.worker KIND CPU FEATURES TRIPLE

KIND is `asm` or `obj`. LLVM ends the process where it cannot select an instruction.
"""

from __future__ import annotations

import sys
from typing import Any

CODEGEN_LEVEL = 3


def main(arguments: list[str]) -> int:
    """Compile the text on stdin to code on stdout; returns 2, with LLVM's words on stderr, where LLVM refuses it."""
    import llvmlite.binding as binding_  # pyright: ignore[reportMissingTypeStubs]

    binding: Any = binding_
    kind, cpu, features, triple = arguments
    binding.initialize_all_targets()
    binding.initialize_all_asmprinters()
    machine = binding.Target.from_triple(triple).create_target_machine(
        cpu=cpu, features=features, opt=CODEGEN_LEVEL, codemodel="default"
    )
    try:
        module = binding.parse_assembly(sys.stdin.read())
        module.triple = triple
        module.data_layout = str(machine.target_data)
        module.verify()
    except RuntimeError as error:
        print(error, file=sys.stderr)
        return 2
    code = machine.emit_assembly(module).encode() if kind == "asm" else machine.emit_object(module)
    sys.stdout.buffer.write(code)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
