"""Modules that the linker for WebAssembly makes: node and wasmtime take them, and what cannot be linked is named."""

from __future__ import annotations

import io
import json
import shutil
import subprocess
from typing import Any

import pytest

from lamina.backends.cpu.jit import Machine, compile_object
from lamina.backends.cpu.machines import named
from lamina.backends.link.elf_object import LinkError
from lamina.backends.link.shared_object import Data
from lamina.backends.link.wasm_module import STACK_BYTES, link_module
from lamina.backends.link.wasm_object import WasmReader, read_wasm_object, sections, signed, unsigned

NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="there is no `node`")
SPEC = named("wasm32")
WASM = Machine(SPEC.triple, SPEC.cpu, SPEC.features)
ADD = """
declare i64 @scaled(i64)
@table = constant [2 x ptr] [ptr @scaled, ptr @negative], align 16
@weights = external constant [4 x i64]
@text = constant [6 x i8] c"net 7\\00"
define i64 @negative(i64 %a) {
  %n = sub i64 0, %a
  ret i64 %n
}
define i64 @add(i64 %a, i64 %b) {
  %s = call i64 @scaled(i64 %a)
  %w.at = getelementptr [4 x i64], ptr @weights, i64 0, i64 %b
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
define i64 @last_weight() {
  %w = load i64, ptr getelementptr ([4 x i64], ptr @weights, i64 0, i64 3)
  ret i64 %w
}
define i64 @sum_below(i64 %n) {
  %room = alloca i64, i64 %n
  call void @fill(ptr %room, i64 %n)
  %v = load volatile i64, ptr %room
  ret i64 %v
}
declare void @fill(ptr, i64)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
define i64 @copied(i64 %n) {
  %a = alloca [100 x i64]
  call void @llvm.memset.p0.i64(ptr %a, i8 1, i64 800, i1 false)
  call void @llvm.memcpy.p0.p0.i64(ptr %a, ptr @weights, i64 %n, i1 false)
  %v = load volatile i64, ptr %a
  %b.at = getelementptr i64, ptr %a, i64 99
  %w = load volatile i64, ptr %b.at
  %s = add i64 %v, %w
  ret i64 %s
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
define void @fill(ptr %p, i64 %n) {
  store volatile i64 %n, ptr %p
  ret void
}
"""
FUNCTIONS = {name: name for name in ("add", "by_table", "address", "last_weight", "sum_below", "copied")}


def objects(**texts: str) -> list[Any]:
    return [read_wasm_object(compile_object(text, WASM), name) for name, text in texts.items()]


def linked() -> bytes:
    data = b"".join(n.to_bytes(8, "little") for n in (10, 20, 30, 40))
    made = link_module(
        objects(add=ADD, scaled=SCALED),
        FUNCTIONS,
        ["table", "text"],
        "small.wasm",
        b"{}",
        Data("weights", len(data), b"d"),
    )
    out = io.BytesIO()
    made.write(out, [data])
    return out.getvalue()


PROGRAM = """
const { exports } = new WebAssembly.Instance(new WebAssembly.Module(require("fs").readFileSync(0)));
const bytes = new Uint8Array(exports.memory.buffer);
const answers = [exports.add(7n, 3n), exports.last_weight(), exports.sum_below(100n)];
answers.push(exports.copied(32n) - 0x0101010101010101n);
for (const n of [0n, 1n]) answers.push(exports.by_table(n, -6n));
answers.push(exports.__indirect_function_table.get(exports.address())(9n));
answers.push(String.fromCharCode(...bytes.slice(exports.text.value, exports.text.value + 5)));
answers.push(exports.table.value % 16, exports.__heap_base.value % 64);
try { exports.sum_below(1000000n); } catch (error) { answers.push(error.message, /sum_below|fill/.test(error.stack)); }
console.log(JSON.stringify(answers, (key, value) => (typeof value === "bigint" ? Number(value) : value)));
"""


@needs_node
def test_functions_tables_data_and_stack_are_found() -> None:
    """A stack that is too deep ends in a trap, whose trace has the names of functions."""
    said = subprocess.run([str(NODE), "-e", PROGRAM], input=linked(), capture_output=True, check=True).stdout
    assert json.loads(said) == [75, 40, 100, 10, -30, 6, 45, "net 7", 0, 0, "memory access out of bounds", True]


def test_another_engine_takes_the_module() -> None:
    wasmtime = pytest.importorskip("wasmtime")
    store: Any = wasmtime.Store()
    exports: Any = wasmtime.Instance(store, wasmtime.Module(store.engine, linked()), []).exports(store)
    assert (exports["add"](store, 7, 3), exports["by_table"](store, 1, -6)) == (75, 6)
    assert exports["__heap_base"].value(store) > STACK_BYTES


def test_the_same_input_gives_the_same_bytes() -> None:
    assert linked() == linked()


def test_the_data_are_the_last_bytes_and_nothing_follows() -> None:
    data = linked()
    found = [(number, name, at, len(content)) for number, name, at, content in sections(memoryview(data))]
    assert [number for number, *_ in found] == [0, 1, 3, 4, 5, 6, 7, 9, 0, 10, 11]
    assert data.endswith((40).to_bytes(8, "little")) and found[-1][2] + found[-1][3] == len(data)


@pytest.mark.parametrize("number", [0, 1, 63, 64, 127, 128, 300, 2**31, 2**32 - 1])
def test_numbers_are_read_as_they_were_written(number: int) -> None:
    assert [WasmReader(memoryview(unsigned(number, size))).number() for size in (0, 5)] == [number, number]
    for value in (number, -number):
        if -(2**31) <= value < 2**31:
            assert [WasmReader(memoryview(signed(value, size))).integer() for size in (0, 5)] == [value, value]
    with pytest.raises(ValueError, match="more than 32 bits"):
        WasmReader(memoryview(b"\x80" * 6)).number()


@pytest.mark.parametrize(
    "texts, exports, says",
    [
        ({"a": SCALED, "b": SCALED}, {"scaled": "scaled"}, "b: scaled is defined here and in a"),
        (
            {"a": "declare void @other()\ndefine void @g() {\n  call void @other()\n  ret void\n}"},
            {},
            "a: it calls other, which no object has; a module of WebAssembly has no libraries",
        ),
        ({"a": SCALED}, {"f": "other"}, "x.wasm: there is no other to export"),
        ({"a": "@v = global i64 3"}, {}, "a: the section .data.v holds variables, which a library has not"),
        ({"a": "@v = global i64 0"}, {}, "a: the section .bss.v holds variables, which a library has not"),
        (
            {
                "a": SCALED,
                "b": "declare void @scaled(i32)\ndefine void @g() {\n  call void @scaled(i32 1)\n  ret void\n}",
            },
            {},
            "b: it calls scaled with other arguments than a has",
        ),
        (
            {"a": SCALED, "b": "@scaled = external constant i32\ndefine ptr @g() {\n  ret ptr @scaled\n}"},
            {},
            "b: it needs scaled, which no object has; a module of WebAssembly has no libraries",
        ),
    ],
)
def test_what_cannot_be_linked_is_named(texts: dict[str, str], exports: dict[str, str], says: str) -> None:
    with pytest.raises(LinkError) as error:
        link_module(objects(**texts), exports, [], "x.wasm")
    assert str(error.value) == says


def test_a_relocation_that_is_not_on_the_list_names_its_kernel() -> None:
    """Of thread-local variables, and of the table by its number."""
    text = "@t = thread_local global i64 1\ndefine i64 @f() {\n  %v = load i64, ptr @t\n  ret i64 %v\n}"
    machine = WASM._replace(features=f"{WASM.features},+atomics")
    with pytest.raises(LinkError, match=r"kernel: a relocation of kind \d+ \(wasm32\) is not on the linker's list"):
        read_wasm_object(compile_object(text, machine), "kernel")


def test_more_memory_than_there_can_be_is_refused() -> None:
    with pytest.raises(LinkError, match=r"x\.wasm: 4,[\d,]+ bytes are more than a memory of WebAssembly has"):
        link_module(objects(a=SCALED), {}, [], "x.wasm", b"", Data("weights", 2**32 - STACK_BYTES, b""))


def test_objects_of_another_kind_are_refused() -> None:
    for data in (b"", b"\x7fELF", b"\0asm\2\0\0\0"):
        with pytest.raises(LinkError, match="a: is no whole object of WebAssembly"):
            read_wasm_object(data, "a")
    with pytest.raises(LinkError, match="no section `linking`"):
        read_wasm_object(linked()[:8], "a")


def test_cut_and_changed_objects_are_refused_or_linked() -> None:
    data = compile_object(ADD, WASM)
    ends = {at + len(content) for _, _, at, content in sections(memoryview(data))}
    for size in set(range(len(data))) - ends:
        with pytest.raises(LinkError):
            read_wasm_object(data[:size], "cut")
    for at in range(len(data)):
        changed = bytearray(data)
        changed[at] ^= 0x55
        try:
            link_module([read_wasm_object(bytes(changed), "changed"), *objects(b=SCALED)], FUNCTIONS, [], "x.wasm")
        except LinkError:
            pass
