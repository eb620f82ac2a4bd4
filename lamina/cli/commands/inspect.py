"""`lamina inspect`: the contents of a compiled program's file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TextIO

from lamina.cli.shell import path_argument
from lamina.errors import EXIT_OK, UnsupportedError

if TYPE_CHECKING:
    from argparse import ArgumentParser


def add_arguments(parser: ArgumentParser) -> None:
    """Add its options."""
    parser.add_argument(
        "file", type=path_argument, metavar="FILE.so|.a|.o|.obj|.wasm|.lamina", help="a program that was compiled"
    )
    parser.add_argument("--verify", action="store_true", help="compare the weights of a library with their digest, too")
    parser.add_argument("--json", action="store_true", help="print it as JSON")


def run(args: Any, out: TextIO, err: TextIO) -> int:
    """Print the inputs, outputs, target and sizes of a program; nothing of it runs."""
    from lamina.ir.suffixes import LIBRARIES_TO_LINK, LINKABLE, is_saved

    path: str = args.file
    if system := next((of for suffix, of in LIBRARIES_TO_LINK.items() if path.endswith(suffix)), None):
        hint = "inspect the object or the archive of the net"
        raise UnsupportedError(f"a library of {system} does not describe itself", where=path, hint=hint)
    if path.endswith(LINKABLE):
        facts = _of_linkable(path)
    else:
        facts = _of_saved(path) if is_saved(path) else _of_library(args.file, args.verify)
    if args.json:
        out.write(json.dumps(facts, indent=2) + "\n")
        return EXIT_OK
    for what, fact in facts.items():
        for n, row in enumerate([fact] if isinstance(fact, str) else fact):
            out.write(f"{'' if n else what:<10}{row}\n")
    return EXIT_OK


def _of_library(path: str, verify: bool) -> dict[str, Any]:
    from lamina.runtime.exported import read_net

    net = read_net(path, verify)
    said = net.description
    return {
        "net": f"{net.name}, exported by Lamina {said['lamina']} with version {said['abi']} of lamina.h",
        "build-id": net.build_id,
        "target": f"{net.target.triple} {net.target.cpu}, {net.target.threads} threads",
        **_ports(said),
        "calls": f"{len(said['entries'])} of kernels",
        "code": f"{net.code_bytes:,} bytes with tables and headers, as they were written",
        "weights": f"{net.weight_bytes:,} bytes, {'as they were written' if verify else 'not compared (--verify)'}",
        "memory": f"{_working(said)} to work in",
        **_packs(said),
    }


def _packs(said: Mapping[str, Any]) -> dict[str, str]:
    """The weights that a library packs when it is loaded."""
    if "packs" not in said:
        return {}
    packs = said["packs"]
    return {"packs": f"{packs['bytes']:,} bytes of weights when it is loaded, in a room of {packs['room']:,}"}


def _of_linkable(path: str) -> dict[str, Any]:
    from lamina.runtime.linkable import read_linkable

    net = read_linkable(path)
    said = net.description
    return {
        "net": f"{said['name']}, exported by Lamina {said['lamina']} with version {said['abi']} of lamina.h",
        "target": f"{net.target.triple} {net.target.cpu}, {net.target.threads} threads",
        **_ports(said),
        "kept": [_kept(row) for row in said["state"]],
        "calls": f"{len(said['entries'])} of kernels",
        "code": f"{net.code_bytes:,} bytes",
        "tables": f"{net.table_bytes:,} bytes, with the texts",
        "weights": f"{net.weight_bytes:,} bytes",
        "memory": f"{_working(said)} to work in, {said['memory']:,} of a state with one thread",
        **_packs(said),
        "needs": ", ".join(net.needed) or "no other library",
    }


def _working(said: Mapping[str, Any]) -> str:
    """The bytes that a run works in, of which some may depend on sizes."""
    from lamina.runtime.exported import named_ports
    from lamina.runtime.ports import SIZE, Port, naming_sizes

    names = [p.name for p in named_ports(said)[0] if p.dtype == SIZE]
    sized = naming_sizes([Port.from_plain(w) for w in said.get("workspaces", [])], names)
    more = "".join(f" + {w.extents.product()}" for w in sized if w.extents is not None)
    return f"{said['arena']:,}{more} bytes"


def _kept(plain: list[Any]) -> str:
    from lamina.runtime.session import KeptValue

    name, output, initial, growth = KeptValue.from_plain(plain)
    values = sorted({*initial.reshape(-1).tolist()})
    first = f", first all {values[0]}" if len(values) == 1 else ", first several values"
    first = first if growth is None else f", and grows along axis {growth.axis} where it lies"
    return f"{output} is {name} of the next run{first}"


def _ports(said: Mapping[str, Any]) -> dict[str, list[str]]:
    """The tensors that a net takes and gives."""
    from lamina.runtime.exported import named_ports
    from lamina.runtime.ports import SIZE

    sides = zip(("inputs", "outputs"), named_ports(said), strict=True)
    return {side: [f"{p.name}: {p.describe()}" for p in ports if p.dtype != SIZE] for side, ports in sides}


def _of_saved(path: Any) -> dict[str, Any]:
    from lamina import Executable

    exe = Executable.load(path)
    target = exe.target
    return {
        "program": f"saved; {'kernels in a fixed order' if exe.is_fixed else 'the virtual machine runs it'}",
        "target": f"{target.triple.data} {target.cpu.data}, {exe.threads} threads",
        "inputs": [f"{p.name}: {p.describe()}" for p in exe.inputs],
        "outputs": [f"{p.name}: {p.describe()}" for p in exe.outputs],
        **({"state": [_kept(v.plain()) for v in exe.kept()]} if exe.is_fixed and exe.kept() else {}),
        **({"memory": str(exe.memory)} if exe.is_fixed else {}),
    }
