"""Libraries that the linker makes: a loader takes them, an independent reader finds what has to be there."""

from __future__ import annotations

import ctypes
import io
from pathlib import Path
from typing import Any

import pytest

from lamina.backends.cpu.jit import Machine, compile_object
from lamina.backends.cpu.machines import named, processor
from lamina.backends.link.elf_object import LinkError, read_object
from lamina.backends.link.loader_tables import gnu_hash
from lamina.backends.link.shared_object import HUGE_PAGE, Data, link

pytestmark = pytest.mark.skipif(not processor().triple.startswith("x86_64"), reason="libraries of x86-64 are loaded")

HOST = Machine("x86_64-unknown-linux-gnu", "x86-64", "")
ARM, RISCV, ARM32 = (Machine(s.triple, s.cpu, s.features) for s in map(named, ("aarch64", "riscv64", "armv7")))
LIBC = {"abs": "libc.so.6", "labs": "libc.so.6"}
ADD = """
declare i64 @scaled(i64)
declare i64 @labs(i64)
@table = constant [2 x ptr] [ptr @scaled, ptr @labs], align 16
@weights = external constant [4 x i64]
define i64 @add(i64 %a, i64 %b) {
  %s = call i64 @scaled(i64 %a)
  %m = call i64 @labs(i64 %b)
  %w.at = getelementptr [4 x i64], ptr @weights, i64 0, i64 %m
  %w = load i64, ptr %w.at
  %t = add i64 %s, %w
  ret i64 %t
}
define i64 @by_table(i64 %n, i64 %x) {
  %at = getelementptr [2 x ptr], ptr @table, i64 0, i64 %n
  %f = load ptr, ptr %at
  %r = call i64 %f(i64 %x)
  ret i64 %r
}
define ptr @address() {
  ret ptr @scaled
}
"""
SCALED = """
@factors = private constant [3 x i64] [i64 2, i64 3, i64 5]
define i64 @scaled(i64 %x) {
  %at = getelementptr [3 x i64], ptr @factors, i64 0, i64 2
  %f = load volatile i64, ptr %at
  %r = mul i64 %x, %f
  ret i64 %r
}
"""
EXPORTS = ["add", "by_table", "address", "table"]


def objects(machine: Machine = HOST, /, **texts: str) -> list[Any]:
    return [read_object(compile_object(text, machine), name) for name, text in texts.items()]


def linked(machine: Machine = HOST, size: int = 32) -> bytes:
    """A library with so many bytes of data, of which the fourth number is 40."""
    data = b"".join(n.to_bytes(8, "little") for n in (10, 20, 30, 40)).ljust(size, b"\1")
    library = link(
        objects(machine, add=ADD, scaled=SCALED), EXPORTS, "small.so", LIBC, b"{}", Data("weights", len(data), b"d")
    )
    out = io.BytesIO()
    library.write(out, [data])
    return out.getvalue()


def test_functions_tables_imports_and_data_are_found(tmp_path: Path) -> None:
    path = tmp_path / "small.so"
    path.write_bytes(linked())
    library = ctypes.CDLL(str(path))
    for name in ("add", "by_table", "address"):
        getattr(library, name).restype = ctypes.c_int64
    i64 = ctypes.c_int64
    assert library.add(i64(7), i64(-3)) == 7 * 5 + 40
    assert [library.by_table(i64(n), i64(-6)) for n in (0, 1)] == [-30, 6]
    assert library.address() == (ctypes.c_int64 * 2).in_dll(library, "table")[0]
    with pytest.raises(AttributeError):
        _ = library.scaled  # is not exported


@pytest.mark.parametrize("machine", [HOST, ARM, RISCV], ids=["x86-64", "aarch64", "riscv64"])
@pytest.mark.parametrize("size", [HUGE_PAGE - 1, HUGE_PAGE, 3 * HUGE_PAGE + 5])
def test_large_data_lie_where_huge_pages_can_hold_them(machine: Machine, size: int, tmp_path: Path) -> None:
    elffile = pytest.importorskip("elftools.elf.elffile")
    whole = linked(machine, size)
    elf: Any = elffile.ELFFile(io.BytesIO(whole))
    *others, data = [s for s in elf.iter_segments() if s["p_type"] == "PT_LOAD"]
    page = others[0]["p_align"]
    assert page < HUGE_PAGE and all(s["p_align"] == page for s in others)
    assert data["p_align"] == (HUGE_PAGE if size >= HUGE_PAGE else page)
    assert (data["p_vaddr"] - data["p_offset"]) % data["p_align"] == 0
    assert len(whole) == data["p_offset"] + size and data["p_filesz"] == size
    assert len(whole) - size < 8 * page  # no room is left for it in the file
    if machine is HOST:
        path = tmp_path / "large.so"
        path.write_bytes(whole)
        library = ctypes.CDLL(str(path))
        assert library.add(ctypes.c_int64(7), ctypes.c_int64(-3)) == 7 * 5 + 40


def test_the_same_input_gives_the_same_bytes() -> None:
    assert linked() == linked()


@pytest.mark.parametrize("machine", [HOST, ARM, RISCV], ids=["x86-64", "aarch64", "riscv64"])
def test_an_independent_reader_finds_a_safe_library(machine: Machine) -> None:
    """Nothing is writable and runs, no relocation changes code, addresses are read-only once they are filled in."""
    pytest.importorskip("elftools")
    from elftools.elf.elffile import ELFFile  # type: ignore[import-untyped]

    elf: Any = ELFFile(io.BytesIO(linked(machine)))
    segments = list(elf.iter_segments())
    kinds = [s["p_type"] for s in segments]
    assert kinds.count("PT_LOAD") == 4 and "PT_DYNAMIC" in kinds and "PT_NOTE" in kinds
    flags = {s["p_type"]: s["p_flags"] for s in segments}
    assert flags["PT_GNU_STACK"] == 6  # no code on the stack
    loads = [s for s in segments if s["p_type"] == "PT_LOAD"]
    assert [s["p_flags"] for s in loads] == [4, 5, 6, 4]
    page = 0x10000 if machine is ARM else 0x1000
    for s in loads:
        assert s["p_align"] == page and s["p_vaddr"] % page == s["p_offset"] % page
    # No two on one page, and all in order.
    for before, after in zip(loads, loads[1:], strict=False):
        assert (before["p_vaddr"] + before["p_memsz"] - 1) // page < after["p_vaddr"] // page
    (relro,) = [s for s in segments if s["p_type"] == "PT_GNU_RELRO"]
    assert (relro["p_vaddr"], relro["p_memsz"]) == (loads[2]["p_vaddr"], loads[2]["p_memsz"])
    assert (relro["p_vaddr"] + relro["p_memsz"]) % page == 0
    dynamic = next(s for s in segments if s["p_type"] == "PT_DYNAMIC")
    tags = {t["d_tag"]: t for t in dynamic.iter_tags()}
    assert "DT_TEXTREL" not in tags and tags["DT_FLAGS"]["d_val"] == 8 and tags["DT_FLAGS_1"]["d_val"] & 1
    assert tags["DT_SONAME"].soname == "small.so" and tags["DT_NEEDED"].needed == "libc.so.6"
    names = [s.name for s in elf.get_section_by_name(".dynsym").iter_symbols()]
    assert names == ["", "labs", *EXPORTS]
    rela = elf.get_section_by_name(".rela.dyn")
    for relocation in rela.iter_relocations():
        assert relro["p_vaddr"] <= relocation["r_offset"] < relro["p_vaddr"] + relro["p_memsz"]
    assert elf.get_section_by_name(".symtab").get_symbol_by_name("scaled")
    if machine is HOST:
        described = [e for e in elf.get_dwarf_info().EH_CFI_entries() if type(e).__name__ == "FDE"]
        rows = elf.get_section_by_name(".eh_frame_hdr").data()
        assert int.from_bytes(rows[8:12], "little") == len(described) == 4


def test_hash_of_a_name_is_the_loaders() -> None:
    """Values of the GNU hash: h * 33 + c from 5381, in 32 bits."""
    assert (gnu_hash(""), gnu_hash("printf"), gnu_hash("exit")) == (0x1505, 0x156B2BB8, 0x7C967E3F)


@pytest.mark.parametrize(
    "texts, exports, says",
    [
        ({"a": SCALED, "b": SCALED}, ["scaled"], "b: scaled is defined here and in a"),
        ({"a": ADD, "b": SCALED}, ["add"], "a: it calls labs, which is in no library that it may use"),
        ({"a": SCALED}, ["other"], "x.so: there is no other to export"),
        ({"a": "@v = global i64 3"}, ["v"], "a: the section .data holds variables, which a library has not"),
        ({"a": "@v = global i64 0"}, ["v"], "a: the section .bss holds variables, which a library has not"),
        (
            {"a": "@v = thread_local global i64 1"},
            ["v"],
            "a: the section .tdata holds variables, which a library has not",
        ),
    ],
)
def test_what_cannot_be_linked_is_named(texts: dict[str, str], exports: list[str], says: str) -> None:
    with pytest.raises(LinkError) as error:
        link(objects(HOST, **texts), exports, "x.so", {})
    assert str(error.value) == says


def test_a_relocation_that_is_not_on_the_list_names_its_kernel() -> None:
    text = "@t = thread_local global i64 1\ndefine i64 @f() {\n  %v = load i64, ptr @t\n  ret i64 %v\n}"
    found = [o._replace(sections=tuple(s for s in o.sections if s.name != ".tdata")) for o in objects(kernel=text)]
    with pytest.raises(LinkError, match=r"kernel: a relocation of kind \d+ \(x86-64\) is not on the linker's list: t"):
        link(found, ["f"], "x.so", {"__tls_get_addr": "libc.so.6"})


def test_objects_of_two_processors_are_refused() -> None:
    with pytest.raises(LinkError, match="the objects are of several processors"):
        link([*objects(a=SCALED), *objects(ARM, b=ADD)], [], "x.so", {})


def test_cut_and_changed_objects_are_refused() -> None:
    data = compile_object(ADD, HOST)
    for size in range(0, len(data), 7):
        try:
            read_object(data[:size], "cut")
        except LinkError:
            continue
        raise AssertionError(size)
    for at in range(0, 64):
        changed = bytearray(data)
        changed[at] ^= 0xFF
        try:
            link([read_object(bytes(changed), "changed")], [], "x.so", LIBC)
        except LinkError:
            pass
