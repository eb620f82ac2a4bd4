"""Nets for macOS: objects as an independent reader finds them, and their code in an emulator. No Mac has run them.

Threads wait there by functions of POSIX's that Linux has too: the text of the run-time is run here with them.
"""

from __future__ import annotations

import ctypes
import re
import shutil
import struct
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

import lamina
from lamina.backends.cpu.jit import Machine, compile_object, link_objects
from lamina.backends.cpu.machines import named, processor
from lamina.backends.cpu.runtime.layout import HERE
from lamina.backends.cpu.runtime.modules import runtime_module, runtime_object
from lamina.backends.link.elf_object import LinkError
from lamina.backends.link.macho_object import read_macho
from lamina.backends.link.macho_relocatable import merge_macho
from lamina.backends.link.shared_object import Data
from lamina.backends.llvm.emit import emit_module
from lamina.errors import LaminaError, UnsupportedError, UsageError
from lamina.runtime.linkable import read_linkable
from tools.header import PATH as HEADER

from .macho_image import image_of

MAC = Machine(*named("aarch64-macos")[:3])
READOBJ = shutil.which("llvm-readobj")
OBJDUMP = shutil.which("llvm-objdump")
WAITING = {
    *("pthread_create", "pthread_join", "sched_yield"),
    *(f"pthread_attr_{what}" for what in ("init", "destroy", "setstacksize")),
    *(f"pthread_mutex_{what}" for what in ("init", "destroy", "lock", "unlock")),
    *(f"pthread_cond_{what}" for what in ("init", "destroy", "wait", "broadcast")),
}


def model() -> Any:
    """A convolution with its bias, and a softmax."""
    random = np.random.default_rng(4)
    weights = [random.standard_normal(s).astype(np.float32) for s in ((9, 3, 3, 3), (9,))]
    nodes = [
        helper.make_node("Conv", ["x", "w", "b"], ["c"], pads=[1, 1, 1, 1]),
        helper.make_node("Softmax", ["c"], ["y"], axis=1),
    ]
    info = helper.make_tensor_value_info
    inputs, outputs = [info("x", TensorProto.FLOAT, [1, 3, 17, 17])], [info("y", TensorProto.FLOAT, None)]
    held = [numpy_helper.from_array(a, n) for a, n in zip(weights, "wb", strict=True)]
    graph = helper.make_graph(nodes, "g", inputs, outputs, held)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


class MachoFacts(NamedTuple):
    """An object as this file reads it: attributes and contents by section, symbols by whether they are here."""

    cpu: int
    kind: int
    platform: tuple[int, ...]
    sections: dict[str, int]
    contents: dict[str, bytes]
    defined: set[str]
    undefined: set[str]


def macho_facts(data: bytes) -> MachoFacts:
    """By Apple's description of the format, and nothing of ours."""
    magic, cpu, _, kind, count, *_ = struct.unpack_from("<8I", data)
    assert magic == 0xFEEDFACF
    sections: dict[str, int] = {}
    contents: dict[str, bytes] = {}
    platform: tuple[int, ...] = ()
    defined, undefined, at = set[str](), set[str](), 32
    for _ in range(count):
        command, size = struct.unpack_from("<II", data, at)
        if command == 0x19:
            (number,) = struct.unpack_from("<I", data, at + 64)
            for n in range(number):
                row = struct.unpack_from("<16s16sQQ8I", data, at + 72 + 80 * n)
                name = ",".join(part.rstrip(b"\0").decode() for part in (row[1], row[0]))
                sections[name], contents[name] = row[8], data[row[4] : row[4] + row[3]]
        elif command == 0x32:
            platform = struct.unpack_from("<2I", data, at + 8)
        elif command == 0x2:
            symbols, number, names, _ = struct.unpack_from("<4I", data, at + 8)
            for n in range(number):
                start, marks, _, _, _ = struct.unpack_from("<IBBHQ", data, symbols + 16 * n)
                name = data[names + start : data.index(b"\0", names + start)].decode()
                if marks & 1:
                    (defined if marks & 0xE else undefined).add(name)
        at += size
    return MachoFacts(cpu, kind, platform, sections, contents, defined, undefined)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Objects of one net, for one thread and for two."""
    folder = tmp_path_factory.mktemp("macos")
    lamina.export(model(), folder / "alone.o", "aarch64-macos", threads=1)
    lamina.export(model(), folder / "two.o", "aarch64-macos", threads=2)
    return folder


def test_an_object_has_one_symbol_and_needs_nothing(folder: Path) -> None:
    found = macho_facts((folder / "alone.o").read_bytes())
    assert (found.cpu, found.kind, found.platform) == (0x0100000C, 1, (1, 11 << 16))
    assert (found.defined, found.undefined) == ({"_lamina_alone"}, set())
    loaded = {"__TEXT,__text", "__TEXT,__const", "__DATA,__const", "__TEXT,__lamina"}
    assert {*found.sections} == {*loaded, "__DWARF,__lamina"}
    assert [name for name, marks in found.sections.items() if marks & 0x80000400] == ["__TEXT,__text"]
    assert len(found.contents["__TEXT,__lamina"]) >= 9 * 28 * 4


def test_threads_ask_for_functions_of_posix_alone(folder: Path) -> None:
    found = macho_facts((folder / "two.o").read_bytes())
    assert found.defined == {"_lamina_two"}
    assert found.undefined == {f"_{name}" for name in WAITING}


@pytest.mark.skipif(READOBJ is None or OBJDUMP is None, reason="there is no llvm-readobj (Debian package llvm)")
def test_llvm_reads_the_object(folder: Path) -> None:
    words = [READOBJ or "", "--file-headers", "--sections", "--symbols", "--relocs", folder / "two.o"]
    said = subprocess.run(words, check=True, capture_output=True, text=True)
    assert not said.stderr and "Arch: aarch64" in said.stdout
    for kind in ("BRANCH26", "PAGE21", "PAGEOFF12", "GOT_LOAD_PAGE21", "GOT_LOAD_PAGEOFF12", "UNSIGNED"):
        assert f"ARM64_RELOC_{kind} " in said.stdout
    code = subprocess.run(
        [OBJDUMP or "", "-d", "--mcpu=apple-a14", folder / "two.o"], check=True, capture_output=True, text=True
    )
    assert "<_lamina_parallel>:" in code.stdout and "<unknown>" not in code.stdout


def test_equal_nets_give_equal_bytes(folder: Path, tmp_path: Path) -> None:
    lamina.export(model(), tmp_path / "alone.o", "aarch64-macos", threads=1)
    assert (tmp_path / "alone.o").read_bytes() == (folder / "alone.o").read_bytes()


def test_an_archive_is_one_of_bsd(folder: Path, tmp_path: Path) -> None:
    """Its index says where the object is, which begins at a multiple of eight."""
    lamina.export(model(), tmp_path / "alone.a", "aarch64-macos", threads=1)
    data, wanted = (tmp_path / "alone.a").read_bytes(), (folder / "alone.o").read_bytes()
    at = data.index(wanted)
    assert at % 8 == 0 and data.startswith(b"!<arch>\n#1/")
    index = 8 + 60 + int(data[11:20])
    size, name, member = struct.unpack_from("<III", data, index)
    names = index + 4 + size + 4
    assert size == 8 and data[names + name :].startswith(b"_lamina_alone\0")
    assert data[member : member + 3] == b"#1/" and member < at < member + 60 + 32
    nm = shutil.which("llvm-nm")
    if nm is not None:
        words = [nm, "--print-armap", "--extern-only", str(tmp_path / "alone.a")]
        said = subprocess.run(words, check=True, capture_output=True, text=True).stdout
        assert "_lamina_alone in alone.o" in said


def test_an_object_and_an_archive_describe_themselves(folder: Path, tmp_path: Path) -> None:
    lamina.export(model(), tmp_path / "alone.a", "aarch64-macos", threads=1)
    for path in (folder / "alone.o", tmp_path / "alone.a"):
        found = read_linkable(path)
        assert (found.description["name"], found.target.cpu) == ("alone", "apple-m1")
        assert found.needed == () and found.weight_bytes == found.description["bytes"] >= 9 * 28 * 4
    assert {*read_linkable(folder / "two.o").needed} == WAITING


def test_a_library_is_not_described() -> None:
    words = [sys.executable, "-m", "lamina.cli", "inspect", "net.dylib"]
    said = subprocess.run(words, capture_output=True, text=True, check=False).stderr
    hint = "inspect the object or the archive of the net"
    assert said == f"error: net.dylib: a library of macOS does not describe itself; {hint}\n"


@pytest.mark.skipif(OBJDUMP is None, reason="there is no llvm-objdump (Debian package llvm)")
@pytest.mark.parametrize("threads", [1, 2])
def test_what_ziglang_links(threads: int, tmp_path: Path) -> None:
    """By itself, where it is installed: one symbol, libSystem and nothing else, signed as Macs want it."""
    if find_spec("ziglang") is None:
        pytest.skip("there is no package ziglang")
    path = tmp_path / "net.dylib"
    lamina.export(model(), path, "aarch64-macos", name="mine", threads=threads)
    words = [OBJDUMP or "", "--macho", "--private-headers", "--exports-trie", "--dylibs-used", str(path)]
    said = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    assert "_lamina_mine\n" in said and "__lamina.description" not in said
    assert "@rpath/net.dylib" in said and "LC_CODE_SIGNATURE" in said
    assert not re.search(r"initprot rwx", said)
    assert said.count("sectname __lamina") == 1


TEXT = """
@table = constant [2 x ptr] [ptr @here, ptr @there]
@far = external constant [9 x i64]
declare i64 @there(i64)
define i64 @here(i64 %x) {
  %y = call i64 @there(i64 %x)
  ret i64 %y
}
define i64 @seventh() {
  %at = getelementptr i64, ptr @far, i64 7
  %v = load i64, ptr %at
  ret i64 %v
}
"""


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ((TEXT, "@x = global i64 3"), "part 1: the section __DATA,__data holds variables"),
        ((TEXT, "@x = global i64 0"), "part 1: the section __DATA,__(common|bss) holds variables"),
        ((TEXT, TEXT), "part 1: here is defined here and in part 0"),
        (("define void @f() { ret void }",), "net.o: there is no table to export"),
    ],
)
def test_what_no_object_can_be_made_of(texts: tuple[str, ...], message: str) -> None:
    objects = [read_macho(compile_object(text, MAC), f"part {n}") for n, text in enumerate(texts)]
    with pytest.raises(LinkError, match=message):
        merge_macho(objects, ["table"], "net.o", Data("weights", 0, b""))


def test_what_is_no_object_is_refused() -> None:
    data = compile_object(TEXT, MAC)
    for broken in (b"", b"\x7fELF" + data, data[:200], data[: len(data) // 2]):
        with pytest.raises(LinkError, match=r"part: is no (whole )?object of Mach-O"):
            read_macho(broken, "part")


@pytest.mark.parametrize(
    ("file", "machine", "kind", "message"),
    [
        (
            "net.so",
            "aarch64-macos",
            UsageError,
            "net.so: a library of Linux has no code for aarch64-apple-macosx11.0.0",
        ),
        ("net.wasm", "aarch64-macos", UsageError, "a module of WebAssembly has no code for aarch64-apple-macosx11.0.0"),
    ],
)
def test_what_is_said_of_mistakes(
    file: str, machine: str, kind: type[LaminaError], message: str, tmp_path: Path
) -> None:
    with pytest.raises(kind, match=message):
        lamina.export(model(), tmp_path / file, machine)
    assert not list(tmp_path.iterdir())


def test_targets_by_their_triples() -> None:
    from lamina.tensor.target import target_of

    for triple in ("arm64-apple-macosx", "aarch64-apple-darwin", "arm64-apple-macosx12.1"):
        found = target_of(f"llvm -mtriple={triple} -mcpu=apple-m2").attr
        assert found is not None and found.triple.data == named("aarch64-macos").triple
    for triple in ("x86_64-apple-macosx", "arm64-apple-ios"):
        with pytest.raises(UnsupportedError, match=f"no code is made for {triple}; x86_64-pc-windows-gnu, or arm64"):
            target_of(f"llvm -mtriple={triple}")
    with pytest.raises(LaminaError, match="code for aarch64 with macOS cannot run here: this machine is"):
        lamina.compile(model(), target="aarch64-macos")


@pytest.mark.slow
@pytest.mark.parametrize("net", ["alone", "two"])
def test_the_code_computes_the_same_in_an_emulator(net: str, folder: Path, tmp_path: Path) -> None:
    """The object linked by another hand, run as code of Linux: macOS has the same calls, and no part in the numbers."""
    compiler, emulator = shutil.which("aarch64-linux-gnu-gcc"), shutil.which("qemu-aarch64")
    if compiler is None or emulator is None:
        pytest.skip("there is no aarch64-linux-gnu-gcc, or no qemu-aarch64")
    source, program, base = Path(__file__).parent / "inputs" / "run_macho_code.c", tmp_path / "program", 0x40_0000_0000
    words = [compiler, "-O1", "-static", "-pthread", "-I", str(HEADER.parent), str(source), "-o", str(program)]
    subprocess.run(words, check=True)
    image = image_of((folder / f"{net}.o").read_bytes(), base)
    assert {name for name, at in image.symbols.items() if at >= image.slots} == (
        {f"_{name}" for name in WAITING} if net == "two" else set()
    )
    (tmp_path / "image").write_bytes(image.data)
    x = np.random.default_rng(6).standard_normal((1, 3, 17, 17)).astype(np.float32)
    x.tofile(tmp_path / "x.raw")
    expected = lamina.compile(model(), threads=1).run({"x": x})["y"]
    for threads in ("1", "2"):
        given = [hex(base), hex(image.symbols[f"_lamina_{net}"]), hex(image.slots), threads, "x.raw", "y.raw"]
        subprocess.run([emulator, "-cpu", "max", str(program), "image", *given], cwd=tmp_path, check=True, timeout=100)
        found = np.fromfile(tmp_path / "y.raw", np.float32).reshape(expected.shape)
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.skipif(not processor().triple.startswith("x86_64-"), reason="the run-time runs on x86-64")
def test_threads_that_sleep_on_a_condition_variable_do_all_the_work() -> None:
    """The pool of macOS's text as code for this machine: each job is done whole, from sleep and from spinning."""
    target = runtime_module("pool", HERE).attributes["lamina.target"]
    objects = [runtime_object("run")]
    for part in ("pool", "net_pool"):
        module = runtime_module(part, "macosx_aarch64")
        module.attributes["lamina.target"] = target
        for hint in [o for o in module.walk() if o.name == "llvm.call_intrinsic"]:
            hint.detach()
            hint.erase()
        text = emit_module(module)
        assert ("call i32 @pthread_cond_wait" in text) == (part == "pool")
        objects.append(compile_object(text, Machine(*named("x86-64")[:3])))
    names = ("lamina_net_bytes", "lamina_net_pool", "lamina_net_stop", "lamina_parallel")
    library = link_objects(objects, names)
    i64, pointer = ctypes.c_int64, ctypes.c_void_p
    size = library.function("lamina_net_bytes", i64, i64)
    begin = library.function("lamina_net_pool", pointer, pointer, i64, i64)
    end = library.function("lamina_net_stop", None, pointer)
    parallel = library.function("lamina_parallel", None, pointer, pointer, i64, i64, pointer)
    kernel = compile_object(COUNT, Machine(*named("x86-64")[:3]))
    count = link_objects([kernel], ["count"])
    bytes_ = size(3)
    assert bytes_ == 256 + 64 + 3 * 64 + 128
    memory = np.full(bytes_ + 64, 0xAA, np.uint8)
    place = memory.ctypes.data + -memory.ctypes.data % 64
    for spins in (0, 2000):
        pool = begin(place, 3, spins)
        assert pool == place
        for extent in [*range(1, 40), *(1000,) * 200]:
            done = np.zeros(extent, np.int64)
            parallel(count.address("count"), done.ctypes.data, extent, 1, pool)
            assert (done == 1).all()
        end(pool)


COUNT = """
define void @count(ptr %done, i64 %lo, i64 %hi) {
entry:
  br label %next
next:
  %i = phi i64 [ %lo, %entry ], [ %j, %step ]
  %more = icmp slt i64 %i, %hi
  br i1 %more, label %step, label %end
step:
  %at = getelementptr i64, ptr %done, i64 %i
  %old = atomicrmw add ptr %at, i64 1 monotonic
  %j = add i64 %i, 1
  br label %next
end:
  ret void
}
"""
