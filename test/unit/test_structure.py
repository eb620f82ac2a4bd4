"""The house keeps its plan: import directions, links, the tree as the registry, cheap start-up."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from lamina.dialects.relay.op_index import OPS as RELAY_OPS
from lamina.dialects.schedule.ops import primitives
from lamina.ir.registry import our_passes
from tools.count_code import statements

ROOT = Path(__file__).parents[2]
ROOMS = ("dialects", "passes", "frontends", "backends")

# Which of our packages a room may import. `lamina.errors` is the floor: it imports nothing, every room raises it.
UPSTREAM = {
    "dialects": {"dialects"},
    "passes": {"dialects", "passes"},
    "frontends": {"dialects", "frontends"},
    "backends": {"dialects", "passes", "backends"},
}
FLOOR = {"lamina.errors"}

# What a room may import beside xDSL, the standard library and itself. Frontends and backends bring their formats.
THIRD_PARTY = {
    "dialects": {"xdsl", "numpy", "ml_dtypes", "safetensors", "typing_extensions"},
    "passes": {"xdsl", "numpy", "ml_dtypes", "typing_extensions"},
}


def python_files(room: str) -> list[Path]:
    return sorted((ROOT / room).rglob("*.py"))


class Contents(NamedTuple):
    """What tests look at in a file of Python."""

    imports: list[tuple[str, int]]
    functions: list[tuple[str, int]]
    public: list[tuple[str, bool]]


@cache
def contents(path: Path) -> Contents:
    """The contents of a file, which is taken apart once for all tests: that takes most of their time."""
    tree = ast.parse(path.read_text("utf-8"))
    return Contents(list(imports(path, tree)), list(functions(tree)), list(public_definitions(tree)))


def imports(path: Path, tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Every module that a file names in an import statement, also inside functions, with its line."""
    for node in statements(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, node.lineno
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            if node.level:
                here = ("lamina", *path.relative_to(ROOT).with_suffix("").parts)
                module = ".".join((*here[: len(here) - node.level], *([module] if module else [])))
            if module == "lamina":
                for alias in node.names:
                    yield f"lamina.{alias.name}", node.lineno
            else:
                yield module, node.lineno


@pytest.mark.parametrize("room", ROOMS)
def test_imports_go_upstream(room: str) -> None:
    wrong: list[str] = []
    for path in python_files(room):
        for module, line in contents(path).imports:
            parts = module.split(".")
            if parts[0] in ROOMS:
                wrong.append(f"{path}:{line}: {module}: write lamina.{module}")
            elif parts[0] == "lamina" and module not in FLOOR:
                if len(parts) < 2 or parts[1] not in UPSTREAM[room]:
                    wrong.append(f"{path}:{line}: {room} imports {module}, which is downstream")
            elif parts[0] != "lamina" and room in THIRD_PARTY:
                if parts[0] not in sys.stdlib_module_names and parts[0] not in THIRD_PARTY[room]:
                    wrong.append(f"{path}:{line}: {room} imports {module}")
    assert not wrong, "\n".join(wrong)


SHARED_BACKENDS = {"c", "llvm"}
"""What targets have in common: a target may import it, it imports no target. CUDA C is written as C is."""


def test_backends_do_not_import_each_other() -> None:
    wrong: list[str] = []
    for path in python_files("backends"):
        parts = path.relative_to(ROOT / "backends").parts
        for module, line in contents(path).imports:
            found = re.match(r"lamina\.backends\.(\w+)", module)
            if found and len(parts) > 1 and found[1] not in {parts[0], *SHARED_BACKENDS}:
                wrong.append(f"{path}:{line}: {module}")
    assert not wrong, "\n".join(wrong)


def test_errors_is_the_floor() -> None:
    modules = [module for module, _ in contents(ROOT / "lamina" / "errors.py").imports]
    found = {m for m in modules if m.split(".")[0] not in sys.stdlib_module_names}
    assert found <= {"__future__", "xdsl.ir"}  # the latter for type checkers only


@pytest.mark.parametrize("room", ROOMS)
def test_link_to_the_room(room: str) -> None:
    link = ROOT / "lamina" / room
    assert link.is_symlink()
    assert link.readlink() == Path("..") / room


@pytest.mark.parametrize("room", ROOMS)
def test_no_room_has_a_second_name(room: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", f"import {room}"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    assert f"import lamina.{room}, not {room}" in done.stderr


def run_python(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


HEAVY = ("numpy", "onnx", "llvmlite", "rich", "safetensors", "ml_dtypes")


def test_import_lamina_is_cheap() -> None:
    """It imports itself and the standard library alone; `bench/time_laws.py` has the time."""
    loaded = run_python(
        "import sys; before = set(sys.modules); import lamina; print(*set(sys.modules) - before)"
    ).split()
    assert {m.split(".")[0] for m in loaded} - sys.stdlib_module_names == {"lamina"}
    assert len(loaded) <= 40, loaded


THREE_OPS = """func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = relay.add %x, %x : tensor<8xf32>
  %1 = relay.multiply %0, %x : tensor<8xf32>
  %2 = relay.nn.relu %1 : tensor<8xf32>
  return %2 : tensor<8xf32>
}
"""


@cache
def modules_of_opt_tool() -> frozenset[str]:
    """The modules that opt-tool has imported when it has printed three ops."""
    code = f"""
import sys
from lamina.opt_tool.command import run_opt_tool
status, out, err = run_opt_tool([], {THREE_OPS!r})
assert status == 0, err
assert out.count('relay.') == 3
print(*sys.modules)
"""
    return frozenset(run_python(code).split())


def test_opt_tool_loads_only_what_it_needs() -> None:
    loaded = modules_of_opt_tool()
    assert not [m for m in loaded if m.split(".")[0] in HEAVY]
    assert "importlib.metadata" not in loaded  # no other package has dialects or passes for us
    files = sorted(m for m in loaded if m.startswith("lamina.dialects.relay."))
    assert 0 < len(files) <= 12, files


THEIR_OPS = """func.func @f(%x: f32) -> f32 {
  %0 = arith.addf %x, %x : f32
  %1 = arith.mulf %0, %x : f32
  %2 = arith.subf %1, %x : f32
  return %2 : f32
}
"""


def test_opt_tool_imports_few_modules_that_xdsl_opt_does_not(tmp_path: Path) -> None:
    """Starting is importing. Here modules are counted; `bench/time_laws.py` has what they cost."""
    file = tmp_path / "theirs.mlir"
    file.write_text(THEIR_OPS)
    theirs = (
        "import sys; from xdsl.xdsl_opt_main import xDSLOptMain; "
        f"xDSLOptMain(args=[{str(file)!r}, '-o', '/dev/null']).run(); print(*sys.modules)"
    )
    more = modules_of_opt_tool() - set(run_python(theirs).split())
    assert len(more) <= 40, sorted(more)


def test_compiling_imports_the_primitives_of_its_schedules_alone(tmp_path: Path) -> None:
    file = tmp_path / "three.mlir"
    file.write_text(THREE_OPS)
    code = f"import sys, lamina; lamina.compile({str(file)!r}, threads=1, cache=False); print(*sys.modules)"
    folder = "lamina.dialects.schedule.primitives."
    used = [m.removeprefix(folder) for m in run_python(code).split() if m.startswith(folder)]
    assert {"loops", "vectorize"} <= set(used)
    assert len(used) <= 8, used


# -- the tree is the registry --------------------------------------------------------------------------------


def test_passes_have_the_name_of_their_file() -> None:
    """Also that no ModulePass hides in a file that the registry does not list."""
    listed = {f.path for f in our_passes().values()}
    for file in our_passes().values():
        assert file.load().name == file.name
    for path in [*(ROOT / "passes").rglob("*.py"), *(ROOT / "backends").glob("*/passes/**/*.py")]:
        through_link = ROOT / "lamina" / path.relative_to(ROOT)
        holds_pass = re.search(r"^class \w+\(.*ModulePass.*\):", path.read_text("utf-8"), re.M)
        assert not holds_pass or through_link in listed, f"{path} holds a pass whose name is not that of the file"


def test_files_of_ops_leave_the_names_of_terms_free() -> None:
    """`r.nn.pad` is the term of an op: an imported module `nn/pad.py` would stand in its place."""
    terms = {name.removeprefix("relay.") for name in RELAY_OPS}
    taken = terms | {name.rpartition(".")[0] for name in terms}
    folder = ROOT / "dialects" / "relay"
    files = {".".join(p.relative_to(folder).with_suffix("").parts) for p in folder.rglob("*.py")}
    assert not taken & files


def test_passes_are_explained_by_example() -> None:
    wrong: list[str] = []
    for file in our_passes().values():
        doc = ast.get_docstring(ast.parse(file.path.read_text("utf-8"))) or ""
        if not re.search(r"\bBefore\b", doc) or not re.search(r"\bAfter\b", doc):
            wrong.append(f"{file.path}: the docstring shows no Before and After")
    assert not wrong, "\n".join(wrong)


def test_schedule_primitives_have_a_picture() -> None:
    assert len(primitives()) > 10
    for op in primitives():
        doc = op.__doc__ or ""
        assert "Before:" in doc and "After" in doc, f"{op.name}: the docstring shows no Before and After"


def test_schedule_primitives_have_the_name_of_their_file() -> None:
    """A file is one primitive, so that adding one is copying one."""
    folder = ROOT / "dialects" / "schedule" / "primitives"
    files = {path.stem for path in folder.glob("[!_]*.py")}
    found = [(op.name, op.__module__.rpartition(".")[2]) for op in primitives()]
    assert sorted(found) == sorted((f"te.{stem}", stem) for stem in files)


def test_backend_passes_are_named_by_their_backend() -> None:
    for name, file in our_passes().items():
        if file.level == "backend":
            assert name.startswith(file.path.parent.parent.name + "-")


def lit_tests() -> list[Path]:
    return [p for p in sorted((ROOT / "test").rglob("*.mlir")) if "inputs" not in p.parts and "unit" not in p.parts]


def test_every_lit_test_checks_something() -> None:
    wrong: list[str] = []
    for path in lit_tests():
        text = path.read_text("utf-8")
        runs = re.findall(r"RUN:(.*)", text)
        checked = any("filecheck" in r or "--verify-diagnostics" in r or "diff" in r for r in runs)
        if not runs or not checked:
            wrong.append(f"{path}: no RUN line that checks")
            continue
        prefixes = {p for r in runs for m in re.findall(r"--check-prefix(?:es)?[= ](\S+)", r) for p in m.split(",")}
        if any("filecheck" in r and "--check-prefix" not in r for r in runs):
            prefixes.add("CHECK")
        for prefix in prefixes:
            if not re.search(rf"\b{re.escape(prefix)}(-[A-Z]+(-\d+)?)?(\{{LITERAL\}})?:", text):
                wrong.append(f"{path}: no line for {prefix}")
        if any("--verify-diagnostics" in r for r in runs) and "expected-" not in text:
            wrong.append(f"{path}: expects no diagnostic")
    assert not wrong, "\n".join(wrong)


def test_modules_stay_small() -> None:
    """A file that nears 600 lines is two things; none goes beyond."""
    long = [
        f"{p}: {n} lines"
        for room in (*ROOMS, "lamina")
        for p in python_files(room)
        if not any(part in ROOMS for part in p.relative_to(ROOT).parts[1:])
        if (n := p.read_text("utf-8").count("\n")) > 600
    ]
    assert not long, "\n".join(long)


MOST_PARAMETERS = 6
USERS_CALL = dict.fromkeys(("compile", "export"), "its options are keywords of users")


def test_what_a_compilation_needs_goes_in_one_object() -> None:
    """No function of the driver hands on a row of parameters."""
    wrong: list[str] = []
    for path in sorted((ROOT / "lamina" / "driver").glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef) and node.name not in USERS_CALL:
                taken = [a.arg for a in (*node.args.args, *node.args.kwonlyargs) if a.arg != "self"]
                if len(taken) > MOST_PARAMETERS:
                    wrong.append(f"{path.name}:{node.lineno}: {node.name} takes {', '.join(taken)}")
    assert not wrong, "\n".join(wrong)


LONGEST_FUNCTION = 60
MOST_LONG_FUNCTIONS = 5
LONG_FUNCTIONS: dict[str, str] = {}
"""The reasons of functions that may be longer, by their file and name: `"passes/te/inline.py: Inliner.run"`."""


def functions(tree: ast.AST, inside: str = "") -> Iterator[tuple[str, int]]:
    """The functions of a module by their qualified names, also those inside of others, with their lines."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            name = f"{inside}{node.name}"
            if not isinstance(node, ast.ClassDef):
                yield name, (node.end_lineno or node.lineno) - node.lineno + 1
            yield from functions(node, f"{name}.")
        elif not isinstance(node, ast.expr):
            yield from functions(node, inside)


def test_few_functions_are_long() -> None:
    """A function beyond 60 lines has a step that a reader could understand alone: the step gets a name."""
    long = {
        f"{path.relative_to(ROOT)}: {name}": lines
        for path in our_files()
        if path.relative_to(ROOT).parts[0] not in ("tools", "bench")
        for name, lines in contents(path).functions
        if lines > LONGEST_FUNCTION
    }
    assert len(LONG_FUNCTIONS) <= MOST_LONG_FUNCTIONS
    assert all(LONG_FUNCTIONS.values()), "each has its reason"
    unnamed = [f"{name}: {lines} lines" for name, lines in long.items() if name not in LONG_FUNCTIONS]
    assert not unnamed, "\n".join(unnamed)
    short = [name for name in LONG_FUNCTIONS if name not in long]
    assert not short, f"not long any more: {', '.join(short)}"


def test_lines_of_functions_are_counted() -> None:
    text = (
        "class A:\n  @property\n  def f(self):\n    def g():\n      pass\n    return g\nif x:\n  async def h(): ...\n"
    )
    assert list(functions(ast.parse(text))) == [("A.f", 4), ("A.f.g", 2), ("h", 1)]


# -- words ---------------------------------------------------------------------------------------------------


def our_files() -> list[Path]:
    """The Python files of all rooms, each once, and of the tools and benchmarks."""
    links = {("lamina", room) for room in ROOMS}
    folders = (*ROOMS, "lamina", "tools", "bench")
    return [p for f in folders for p in python_files(f) if p.relative_to(ROOT).parts[:2] not in links]


OPENING = re.compile(r"\s*(What|Where|Who|Whose|How|Which|Why|When)\b")
OPENING_IN_TEXT = re.compile(rf"""["'](\\\n)?{OPENING.pattern}""")


def docstrings(tree: ast.Module) -> Iterator[ast.Constant]:
    """The strings that stand as statements: of modules, classes and functions, and behind assignments."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.value


def test_docstrings_begin_with_a_noun_or_a_verb() -> None:
    """They say what a thing is or does: "The passes that run", not "Which passes run". "Whether" stays."""
    wrong: list[str] = []
    for path in our_files():
        text = path.read_text("utf-8")
        if OPENING_IN_TEXT.search(text):
            found = [d for d in docstrings(ast.parse(text)) if OPENING.match(str(d.value))]
            wrong += [f"{path}:{d.lineno}: {str(d.value).splitlines()[0]}" for d in found]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("text", ['"""What it is."""', "x = 1\n'How many.'", '"""\\\nWhich passes run."""'])
def test_an_opening_by_a_question_is_seen(text: str) -> None:
    assert OPENING_IN_TEXT.search(text)
    assert any(OPENING.match(str(d.value)) for d in docstrings(ast.parse(text)))


LEAST_DOCUMENTED = 0.95
"""The share of public functions and classes that say what a reader does not see from their names."""


def public_definitions(tree: ast.Module) -> Iterator[tuple[str, bool]]:
    """The public functions and classes at the outermost level of a file by line and name, and whether documented.

    Functions that a call registers, as `@emits(...)` does, are facets of what the call names.
    """
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith("_"):
            if isinstance(node, ast.ClassDef) or not any(isinstance(d, ast.Call) for d in node.decorator_list):
                yield f"{node.lineno} {node.name}", bool(ast.get_docstring(node))


def test_public_functions_and_classes_are_documented() -> None:
    files = [path for path in our_files() if path.relative_to(ROOT).parts[0] not in ("tools", "bench")]
    found = [
        (f"{path.relative_to(ROOT)}:{place}", documented)
        for path in files
        for place, documented in contents(path).public
    ]
    missing = [place for place, documented in found if not documented]
    share = 1 - len(missing) / len(found)
    assert share >= LEAST_DOCUMENTED, f"{share:.1%} have a docstring, the others are\n" + "\n".join(missing)


TVM_CLASSES = {
    **{"Call": 2, "ComputeOp": 2, "DFPatternCallback": 2, "Executable": 2, "Executor": 2, "Expr": 3, "ExternOp": 2},
    **{"IterVar": 2, "OpPattern": 2, "Pass": 2, "PassContext": 2, "PassInstrument": 2, "PassPrintingInstrument": 2},
    **{"Pattern": 2, "PrintAfterAll": 2, "PrintBeforeAll": 2, "RefType": 2, "ScanOp": 2, "Schedule": 2, "Target": 2},
    **{"RandomTuner": 2, "Tuner": 2, "TypeVar": 2, "Var": 3, "VirtualMachine": 2},
}
"""Users know them by TVM's names; what stands behind, or writes the same in our IR, is called alike."""
IN_TWO_FOLDERS = {
    **{"Affine": 2, "Alternatives": 2, "Annotation": 2, "Attachment": 2, "Bodies": 2, "Buffer": 4, "Builder": 3},
    **{"Case": 2, "Checks": 2, "Comparison": 3, "Convolution": 2, "Difference": 2, "Drawn": 2, "Emitter": 2},
    **{"Entry": 2, "Equation": 2, "Extent": 2, "Format": 2, "Function": 3, "Graph": 3, "Kernel": 3, "Kernels": 2},
    **{"Kind": 2, "Level": 2, "Library": 2, "Lowering": 3, "Match": 2, "Memory": 3, "Merged": 2, "Model": 2},
    **{"Namespace": 2, "Node": 3, "Outcome": 2, "Parser": 2, "Part": 3, "Partial": 2, "Phase": 2, "Place": 3},
    **{"Places": 3, "Plan": 5, "Port": 2, "Program": 6, "Reduced": 2, "Reducer": 2, "Reduction": 2, "Refusal": 2},
    **{"Report": 3, "Row": 4, "Sampling": 2, "Scope": 3, "Settings": 2, "Shape": 2, "Source": 3, "Stage": 3},
    **{"Step": 2, "Steps": 2, "Tensor": 3, "Term": 2, "Terms": 2, "Tile": 2, "TirToLlvmPass": 2, "Trace": 2},
    **{"Type": 2, "Update": 2, "Value": 2, "Verdict": 2, "Window": 3, "Writer": 2},
}
"""Classes of a few files each, which never meet in one. The list gets shorter: a new class finds a name of its own."""


def public_classes() -> dict[str, list[Path]]:
    """The files of public classes, by the classes' names."""
    found: defaultdict[str, list[Path]] = defaultdict(list)
    for path in our_files():
        text = path.read_text("utf-8")
        for name in re.findall(r"^class ([A-Za-z]\w*)", text, re.M):
            found[name].append(path.relative_to(ROOT))
    return found


def are_ops_of_dialects(name: str, files: list[Path]) -> bool:
    """Whether a dialect tells classes apart, as in MLIR: `te.FuncOp` and `tir.FuncOp`."""
    return name.endswith("Op") and len({f.parts[:2] for f in files if f.parts[0] == "dialects"}) == len(files)


def test_public_classes_have_names_of_their_own() -> None:
    allowed = TVM_CLASSES | IN_TWO_FOLDERS
    wrong: list[str] = []
    for name, files in public_classes().items():
        if len(files) > allowed.get(name, 1) and not are_ops_of_dialects(name, files):
            classes = Counter({f: c for f in files if (c := classes_in(f)[name])})
            if classes.total() > allowed.get(name, 1):
                wrong.append(f"{name}: {', '.join(map(str, classes))}")
    assert not wrong, "\n".join(wrong)


def classes_in(file: Path) -> Counter[str]:
    """The classes at the outermost level of a file, by name: a text in a docstring is none."""
    tree = ast.parse((ROOT / file).read_text("utf-8"))
    return Counter(node.name for node in tree.body if isinstance(node, ast.ClassDef))


def test_duplicates_that_are_allowed_are_needed() -> None:
    classes = public_classes()
    few = [n for n, count in (TVM_CLASSES | IN_TWO_FOLDERS).items() if len(classes[n]) < count]
    assert not few, f"not needed any more: {', '.join(few)}"
