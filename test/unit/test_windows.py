"""Nets for Windows: objects as an independent reader finds them, and programs that wine runs where it is there."""

from __future__ import annotations

import os
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
from lamina.backends.cpu.jit import Machine, compile_object
from lamina.backends.link.coff_object import read_coff
from lamina.backends.link.coff_relocatable import merge_coff
from lamina.backends.link.elf_object import LinkError
from lamina.backends.link.shared_object import Data
from lamina.driver.linker import linker_words
from lamina.errors import InputError, LaminaError, UnsupportedError, UsageError
from lamina.runtime.linkable import read_linkable
from tools.header import PATH as HEADER

WINDOWS = Machine("x86_64-pc-windows-gnu", "x86-64", "")
READOBJ = shutil.which("llvm-readobj")


def model() -> Any:
    """A convolution, a sum by a table of eight rows, and a softmax."""
    random = np.random.default_rng(3)
    w = random.standard_normal((9, 3, 3, 3)).astype(np.float32)
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"], pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["c"], ["r"]),
        helper.make_node("Softmax", ["r"], ["y"], axis=1),
    ]
    info = helper.make_tensor_value_info
    inputs, outputs = [info("x", TensorProto.FLOAT, [1, 3, 17, 17])], [info("y", TensorProto.FLOAT, None)]
    graph = helper.make_graph(nodes, "g", inputs, outputs, [numpy_helper.from_array(w, "w")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


class CoffFacts(NamedTuple):
    """An object as this file reads it: characteristics by section, and shared symbols by whether they are here."""

    machine: int
    sections: dict[str, int]
    contents: dict[str, bytes]
    defined: set[str]
    undefined: set[str]


def coff_facts(data: bytes) -> CoffFacts:
    """By Microsoft's description of the format, and nothing of ours."""
    machine, count, _, symbols, number, optional, _ = struct.unpack_from("<HHIIIHH", data)
    strings = data[symbols + 18 * number :]

    def text(at: int) -> str:
        return strings[at : strings.index(b"\0", at)].decode()

    sections: dict[str, int] = {}
    contents: dict[str, bytes] = {}
    for n in range(count):
        raw, _, _, size, at, *_, marks = struct.unpack_from("<8sIIIIIIHHI", data, 20 + optional + 40 * n)
        name = text(int(raw[1:].rstrip(b"\0"))) if raw[:1] == b"/" else raw.rstrip(b"\0").decode()
        sections[name], contents[name] = marks, data[at : at + size]
    defined, undefined, n = set[str](), set[str](), 0
    while n < number:
        raw, _, section, _, storage, more = struct.unpack_from("<8sIhHBB", data, symbols + 18 * n)
        name = text(int.from_bytes(raw[4:], "little")) if raw[:4] == bytes(4) else raw.rstrip(b"\0").decode()
        if storage == 2:
            (defined if section else undefined).add(name)
        n += 1 + more
    return CoffFacts(machine, sections, contents, defined, undefined)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Objects of one net, for one thread and for two."""
    folder = tmp_path_factory.mktemp("windows")
    lamina.export(model(), folder / "alone.obj", "x86-64-v3-windows", threads=1)
    lamina.export(model(), folder / "two.o", "x86-64-v3-windows", threads=2)
    return folder


def test_an_object_has_one_symbol_and_needs_nothing(folder: Path) -> None:
    found = coff_facts((folder / "alone.obj").read_bytes())
    assert found.machine == 0x8664
    assert (found.defined, found.undefined) == ({"lamina_alone"}, set())
    assert {*found.sections} == {".text", ".rdata", ".pdata", ".xdata", ".rdata$lamina", ".lamina.description"}
    writable, runs = 0x80000000, 0x20000000
    assert [name for name, marks in found.sections.items() if marks & writable] == []
    assert [name for name, marks in found.sections.items() if marks & runs] == [".text"]


def test_threads_ask_for_functions_of_kernel32_alone(folder: Path) -> None:
    found = coff_facts((folder / "two.o").read_bytes())
    assert found.defined == {"lamina_two"}
    assert found.undefined == {
        *("AcquireSRWLockExclusive", "ReleaseSRWLockExclusive", "SleepConditionVariableSRW"),
        *("WakeAllConditionVariable", "CreateThread", "WaitForSingleObject", "CloseHandle", "SwitchToThread"),
    }


@pytest.mark.skipif(READOBJ is None, reason="there is no llvm-readobj (Debian package llvm)")
def test_llvm_reads_the_object_and_its_tables_for_unwinding(folder: Path) -> None:
    words = [READOBJ or "", "--file-headers", "--sections", "--symbols", "--relocs", "--unwind", folder / "alone.obj"]
    said = subprocess.run(words, check=True, capture_output=True, text=True)
    assert not said.stderr
    assert "Machine: IMAGE_FILE_MACHINE_AMD64" in said.stdout
    assert "IMAGE_REL_AMD64_REL32" in said.stdout and "IMAGE_REL_AMD64_ADDR32NB" in said.stdout
    assert said.stdout.count("RuntimeFunction {") > 10 and "Unable" not in said.stdout


def test_the_weights_are_the_last_section_and_the_bytes_of_every_build_are_equal(folder: Path, tmp_path: Path) -> None:
    data = (folder / "alone.obj").read_bytes()
    weights = coff_facts(data).contents[".rdata$lamina"]
    assert data.endswith(weights) and len(weights) >= 9 * 27 * 4
    lamina.export(model(), tmp_path / "alone.obj", "x86-64-v3-windows", threads=1)
    assert (tmp_path / "alone.obj").read_bytes() == data


def test_an_archive_has_the_object_and_its_symbol(folder: Path, tmp_path: Path) -> None:
    lamina.export(model(), tmp_path / "alone.a", "x86-64-v3-windows", threads=1)
    data = (tmp_path / "alone.a").read_bytes()
    assert data.startswith(b"!<arch>\n/ ") and b"lamina_alone\0" in data[:200]
    assert (folder / "alone.obj").read_bytes() in data


def test_an_object_and_an_archive_describe_themselves(folder: Path, tmp_path: Path) -> None:
    lamina.export(model(), tmp_path / "alone.a", "x86-64-v3-windows", threads=1)
    for path in (folder / "alone.obj", tmp_path / "alone.a"):
        found = read_linkable(path)
        assert (found.description["name"], found.target.triple) == ("alone", "x86_64-pc-windows-gnu")
        assert found.needed == () and found.weight_bytes == found.description["bytes"] >= 9 * 27 * 4
    assert "CreateThread" in read_linkable(folder / "two.o").needed
    data = bytearray((folder / "alone.obj").read_bytes())
    data[300] ^= 1
    (tmp_path / "alone.obj").write_bytes(data)
    with pytest.raises(LaminaError, match="alone.obj: is no net that Lamina has exported"):
        read_linkable(tmp_path / "alone.obj")


TEXT = """
@table = constant [2 x ptr] [ptr @here, ptr @there]
declare i64 @there(i64)
define i64 @here(i64 %x) {
  %y = call i64 @there(i64 %x)
  ret i64 %y
}
"""


def merged(*texts: str, exports: tuple[str, ...] = ("table",), machine: Machine = WINDOWS) -> bytes:
    objects = [read_coff(compile_object(text, machine), f"part {n}") for n, text in enumerate(texts)]
    library = merge_coff(objects, exports, "net.obj", Data("weights", 0, b""))
    return library.code


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ((TEXT.replace("@here", "@table.x"), "@x = global i64 3"), r"part 1: the section \.data holds variables"),
        ((TEXT, TEXT), "part 1: here is defined here and in part 0"),
        (("define void @f() { ret void }",), "net.obj: there is no table to export"),
    ],
)
def test_what_no_object_can_be_made_of(texts: tuple[str, ...], message: str) -> None:
    with pytest.raises(LinkError, match=message):
        merged(*texts)


def test_more_weights_than_an_image_holds() -> None:
    objects = [read_coff(compile_object(TEXT, WINDOWS), "part")]
    with pytest.raises(LinkError, match=r"net.obj: 2,147,483,648 bytes of weights are more than a program of Windows"):
        merge_coff(objects, ["table"], "net.obj", Data("weights", 1 << 31, b""))


def test_a_section_has_more_relocations_than_its_header_counts(tmp_path: Path) -> None:
    """A table of 70,000 addresses: the first relocation holds their number, as the format has it."""
    table = ", ".join(["ptr @here"] * 70_000)
    text = f"@table = constant [70000 x ptr] [{table}]\ndefine void @here() {{ ret void }}"
    data = merged(text)
    again = read_coff(data, "net.obj")
    section = next(s for s in again.sections if s.name == ".rdata")
    assert len(section.relocations) == 70_000 and section.relocations[-1].offset == 69_999 * 8
    if READOBJ is not None:
        (tmp_path / "net.obj").write_bytes(data)
        words = [READOBJ, "--relocs", str(tmp_path / "net.obj")]
        said = subprocess.run(words, check=True, capture_output=True, text=True).stdout
        assert said.count("IMAGE_REL_AMD64_ADDR64 here") == 70_000


def test_what_is_no_object_is_refused() -> None:
    data = compile_object(TEXT, WINDOWS)
    for broken in (b"", b"\x7fELF" + data, data[:100], data[: len(data) // 2]):
        with pytest.raises(LinkError, match=r"part: is no (whole )?object of COFF"):
            read_coff(broken, "part")


@pytest.mark.parametrize(
    ("file", "machine", "kind", "message"),
    [
        (
            "net.so",
            "x86-64-windows",
            UsageError,
            "net.so: a library of Linux has no code for x86_64-pc-windows-gnu; wri",
        ),
        ("net.wasm", "x86-64-windows", UsageError, "a module of WebAssembly has no code for x86_64-pc-windows-gnu"),
        ("net.obj", "x86-64-v9-windows", UsageError, "unknown target 'x86-64-v9-windows'; did you mean"),
    ],
)
def test_what_is_said_of_mistakes(
    file: str, machine: str, kind: type[LaminaError], message: str, tmp_path: Path
) -> None:
    with pytest.raises(kind, match=message):
        lamina.export(model(), tmp_path / file, machine)
    assert not list(tmp_path.iterdir())


def test_code_for_windows_does_not_run_here() -> None:
    with pytest.raises(LaminaError, match="code for x86_64 with Windows cannot run here: this machine is"):
        lamina.compile(model(), target="x86-64-windows")


def test_targets_by_their_triples() -> None:
    from lamina.tensor.target import target_of

    found = target_of("llvm -mtriple=x86_64-pc-windows-gnu -mcpu=haswell -num-cores=2").attr
    assert found is not None
    assert (found.triple.data, found.cpu.data, found.threads.data) == ("x86_64-pc-windows-gnu", "x86-64-v3", 2)
    other = target_of("llvm -mtriple=x86_64-w64-mingw32").attr
    assert other is not None and other.cpu.data == "x86-64"
    with pytest.raises(UnsupportedError, match="no code is made for x86_64-pc-windows-msvc; x86_64-pc-windows-gnu"):
        target_of("llvm -mtriple=x86_64-pc-windows-msvc")
    with pytest.raises(UsageError, match="no cpu 'cortex-a72'"):
        target_of("llvm -mtriple=x86_64-pc-windows-gnu -mcpu=cortex-a72")


# -- libraries, and what runs them ---------------------------------------------------------------------------------

WINE = shutil.which("wine64") or next((str(p) for p in [Path("/usr/lib/wine/wine64")] if p.is_file()), None)
MINGW = shutil.which("x86_64-w64-mingw32-gcc")


def linker() -> list[str]:
    """A C compiler for Windows. Skips the test where there is none."""
    if MINGW is not None:
        return [MINGW]
    if find_spec("ziglang") is None:
        pytest.skip("there is no x86_64-w64-mingw32-gcc, and no package ziglang")
    return [sys.executable, "-m", "ziglang", "cc", "-target", "x86_64-windows-gnu"]


RUNNER = Path(__file__).parent / "inputs" / "run_on_windows.c"


def built(folder: Path, name: str, *options: str) -> Path:
    """A program of RUNNER, which needs no C library."""
    program = folder / f"{name}.exe"
    words = [
        *linker(),
        "-O1",
        "-ffreestanding",
        "-nostdlib",
        "-Wl,-e,begin",
        "-Wl,--subsystem,console",
        "-I",
        str(HEADER.parent),
    ]
    words += ["-o", str(program), str(RUNNER), *options, "-lkernel32"]
    subprocess.run(words, check=True, capture_output=True)
    return program


def computed(program: Path, folder: Path, *words: str) -> bytes:
    """What a program of RUNNER writes, run by wine on the input of `drawn`."""
    drawn().tofile(folder / "x.raw")
    environment = {**os.environ, "WINEPREFIX": str(folder.parent / "wine"), "WINEDEBUG": "-all"}
    given = [WINE or "", str(program.relative_to(folder)), *words, "x.raw", "y.raw"]
    subprocess.run(given, cwd=folder, env=environment, check=True, capture_output=True, timeout=120)
    return (folder / "y.raw").read_bytes()


def drawn() -> Any:
    return np.random.default_rng(5).standard_normal((1, 3, 17, 17)).astype(np.float32)


def expected() -> bytes:
    """What the program computes in this process."""
    return lamina.compile(model(), target="x86-64-v3", threads=1).run({"x": drawn()})["y"].tobytes()


needs_wine = pytest.mark.skipif(WINE is None, reason="there is no wine64 (Debian package)")


@needs_wine
@pytest.mark.slow
@pytest.mark.needs("x86-64-v3")
def test_a_program_with_a_net_computes_the_same_to_the_bit(folder: Path) -> None:
    program = built(folder, "static", "-DNET=lamina_alone", str(folder / "alone.obj"))
    assert computed(program, folder, "1") == expected()


@needs_wine
@pytest.mark.slow
@pytest.mark.needs("x86-64-v3")
def test_a_library_with_threads_computes_the_same_to_the_bit(folder: Path) -> None:
    words = [MINGW] if MINGW is not None else [*linker(), "-nostdlib", "-Wl,--no-entry", "-lkernel32"]
    lamina.export(model(), folder / "net.dll", "x86-64-v3-windows", threads=2, linker=words)
    program = built(folder, "dynamic")
    for threads in ("1", "2"):
        assert computed(program, folder, "net.dll", "lamina_net", threads) == expected()


@pytest.mark.skipif(READOBJ is None, reason="there is no llvm-readobj (Debian package llvm)")
@pytest.mark.parametrize("threads", [1, 2])
def test_what_ziglang_links(threads: int, tmp_path: Path) -> None:
    """By itself, where it is installed: one symbol, kernel32 and nothing else, no section that is written and runs."""
    if find_spec("ziglang") is None:
        pytest.skip("there is no package ziglang")
    lamina.export(model(), tmp_path / "net.dll", "x86-64-v3-windows", name="mine", threads=threads)
    assert [p.name for p in tmp_path.iterdir()] == ["net.dll"]
    words = [READOBJ or "", "--coff-exports", "--coff-imports", "--sections", str(tmp_path / "net.dll")]
    said = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    exported = said[said.index("Export {") :]
    assert exported.count("Export {") == 1 and "Name: lamina_mine\n" in exported
    imports = set(re.findall(r"Import \{\n\s*Name: (\S+)", said))
    assert imports == ({"KERNEL32.dll"} if threads > 1 else set())
    for section in said.split("Section {")[1:]:
        assert not ("MEM_WRITE" in section and "MEM_EXECUTE" in section)


@pytest.mark.parametrize(
    ("file", "words", "kind", "message"),
    [
        ("net.dll", None, UsageError, r"net.dll: libraries for Windows need a linker; pip install 'lamina\[link\]' br"),
        ("net.dll", ["no-such-cc"], UsageError, "net.dll: cannot start the linker 'no-such-cc': No such file"),
        ("net.dll", ["false"], InputError, "net.dll: the linker 'false' fails: it ends with status 1 and no library"),
        ("net.dll", ["true"], InputError, "net.dll: the linker 'true' fails: it ends with status 0 and no library"),
        ("net.dll", ["cat", "/nowhere"], InputError, "the linker 'cat' fails: "),
        ("net.obj", ["cc"], UsageError, "net.obj: no linker takes part; --linker is for .dll and .dylib"),
        ("net.dylib", ["cc"], UsageError, "net.dylib: a library of macOS has no code for x86_64-pc-windows-gnu; write"),
    ],
)
def test_what_is_said_of_linkers(
    file: str,
    words: list[str] | None,
    kind: type[LaminaError],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "ziglang", None)
    with pytest.raises(kind, match=message):
        lamina.export(model(), tmp_path / file, "x86-64-v3-windows", threads=1, linker=words)
    assert not list(tmp_path.iterdir())


def test_a_command_takes_a_linker_as_a_shell_does(tmp_path: Path) -> None:
    (tmp_path / "net.onnx").write_bytes(model().SerializeToString())
    record = tmp_path / "linker.py"
    record.write_text("import sys, shutil\nprint(sys.argv[1])\nshutil.copy(sys.argv[-1], sys.argv[-2])\n")
    target = "llvm -mtriple=x86_64-pc-windows-gnu -mcpu=haswell"

    def command(given: str, file: str = "net.dll") -> tuple[int, str]:
        words = [sys.executable, "-m", "lamina.cli", "compile", "net.onnx", "-o", file, "--threads", "1"]
        ended = subprocess.run(
            [*words, "--target", target, "--linker", given], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        return ended.returncode, ended.stderr

    assert command(f'"{sys.executable}" {record} "-target x"') == (0, "")
    assert coff_facts((tmp_path / "net.dll").read_bytes()).defined == {"lamina_net"}
    assert b" -export:lamina_net,data" in coff_facts((tmp_path / "net.dll").read_bytes()).contents[".drectve"]
    assert command("cc", "texts/") == (2, "error: --linker links a library; give -o FILE.dll or -o FILE.dylib\n")


@pytest.mark.parametrize(
    ("text", "message"), [("cc 'x", "--linker: No closing quotation; as in"), (" ", "--linker names no program; as in")]
)
def test_what_is_no_command(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        linker_words(text)
    assert linker_words("zig cc -target 'a b'") == ["zig", "cc", "-target", "a b"]


def test_a_library_of_tvms_users(tmp_path: Path) -> None:
    """Written for Windows from here as an object, alone and in a .tar, which is not run here."""
    from lamina.compat import tvm
    from lamina.compat.tvm import relay

    x = relay.var("x", shape=(4, 8))
    mod = tvm.IRModule.from_expr(relay.Function([x], relay.nn.relu(x)))
    library = relay.build(mod, target="llvm -mtriple=x86_64-pc-windows-gnu -num-cores=1")
    library.export_library(tmp_path / "net.obj")
    assert coff_facts((tmp_path / "net.obj").read_bytes()).defined == {"lamina_default"}
    library.export_library(tmp_path / "net.tar")
    with pytest.raises(LaminaError, match="code for x86_64 with Windows cannot run here"):
        tvm.runtime.load_module(tmp_path / "net.tar")
