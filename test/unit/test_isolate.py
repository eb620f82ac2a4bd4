"""Functions in processes of their own: results, refusals, faults, crashes, hangs, memory."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lamina.debugging import isolate
from lamina.debugging.isolate import Server
from lamina.debugging.outcome import Kind, Outcome, without_names

pytestmark = pytest.mark.slow

HERE = "isolated_functions"


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    folder = os.path.dirname(__file__)
    with Server([HERE], memory=4 << 30, environment={"PYTHONPATH": folder}) as server:
        yield server


def outcome(found: Any) -> Outcome:
    assert isinstance(found, Outcome)
    return found


def test_a_result_is_json(server: Server) -> None:
    assert server.call(f"{HERE}:double", {"x": [1, 2.5, "a"]}) == {"doubled": [1, 2.5, "a", 1, 2.5, "a"]}


def test_a_call_has_the_folder_and_the_environment_of_its_caller(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert server.call(f"{HERE}:surroundings", {"name": "SET_LATER"}) == [os.getcwd(), None]
    monkeypatch.setenv("SET_LATER", "yes")
    monkeypatch.chdir(tmp_path)
    assert server.call(f"{HERE}:surroundings", {"name": "SET_LATER"}) == [str(tmp_path), "yes"]


def test_a_call_that_is_interrupted_leaves_no_answer_to_the_next(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(stream: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(isolate, "receive", interrupt)
        server.call(f"{HERE}:double", {"x": [1]})
    assert server.call(f"{HERE}:double", {"x": [2]}) == {"doubled": [2, 2]}


def test_a_refusal_is_no_fault(server: Server) -> None:
    found = outcome(server.call(f"{HERE}:refuse", {}))
    assert found == Outcome(Kind.REFUSAL, "f.onnx: no Foo; use Bar", "")
    assert not found.kind.is_fault


def test_another_exception_is_an_internal_error(server: Server) -> None:
    found = outcome(server.call(f"{HERE}:fail", {}))
    assert (found.kind, found.said) == (Kind.INTERNAL_ERROR, "KeyError: 'arith.index_cast'")


def test_an_internal_error_names_its_pass(server: Server) -> None:
    found = outcome(server.call(f"{HERE}:fail_in_a_pass", {}))
    assert (found.kind, found.where) == (Kind.INTERNAL_ERROR, "tir-to-llvm")


def test_a_crash_says_its_signal_and_the_last_line(server: Server) -> None:
    found = outcome(server.call(f"{HERE}:crash", {}))
    assert found == Outcome(Kind.CRASH, "the process died of SIGSEGV: LLVM ERROR: cannot select", f"{HERE}:crash")


def test_a_hang_is_killed_with_what_it_has_started(server: Server) -> None:
    start = time.monotonic()
    found = outcome(server.call(f"{HERE}:hang_in_a_child", {}, seconds=0.4))
    assert found.kind == Kind.HANG
    assert time.monotonic() - start < 5


def test_a_hang_takes_the_servers_with_it_that_it_has_started(server: Server, tmp_path: Path) -> None:
    """A call leads a process group of its own, which is not that of the call that has started its server."""
    path = tmp_path / "pid"
    found = outcome(server.call(f"{HERE}:hang_in_a_server", {"path": str(path)}, seconds=4))
    assert found.kind == Kind.HANG
    inner = f"/proc/{path.read_text()}"
    deadline = time.monotonic() + 10
    while running(inner) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not running(inner)


def running(process: str) -> bool:
    """Whether a process of /proc is there and no zombie."""
    try:
        return Path(process, "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_a_crash_is_seen_though_a_child_lives(server: Server) -> None:
    assert outcome(server.call(f"{HERE}:crash_beside_a_child", {}, seconds=20)).kind == Kind.CRASH


def test_memory_is_limited(server: Server) -> None:
    found = outcome(server.call(f"{HERE}:allocate", {"size": 6 << 30}))
    assert found.kind == Kind.INTERNAL_ERROR and "MemoryError" in found.said


def test_a_call_imports_nothing(server: Server) -> None:
    """The process of a call is a copy of one that has imported everything: `bench/time_laws.py` has its time."""
    calls: list[Any] = [server.call(f"{HERE}:processes", {}) for _ in range(2)]
    first, second = calls
    assert first["loaded"] == first["parent"] == second["loaded"] == second["parent"]
    assert len({first["own"], second["own"], first["parent"]}) == 3


def test_a_killed_caller_leaves_no_process() -> None:
    code = (
        "import os\nfrom lamina.debugging.isolate import Server\n"
        f"s = Server([{HERE!r}])\nprint(s.call({HERE + ':group'!r}, {{}}), flush=True)\n"
        f"print(s.start().pid, flush=True)\ns.call({HERE + ':hang_in_a_child'!r}, {{}}, 60)"
    )
    environment = {**os.environ, "PYTHONPATH": os.path.dirname(__file__)}
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, env=environment)
    assert process.stdout is not None
    process.stdout.readline()
    server = int(process.stdout.readline())
    process.kill()
    process.wait()
    process.stdout.close()
    deadline = time.monotonic() + 10
    while os.path.exists(f"/proc/{server}") and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not os.path.exists(f"/proc/{server}")


def test_an_interrupt_of_the_caller_does_not_reach_the_server(server: Server) -> None:
    assert os.getpgid(server.start().pid) != os.getpgrp()


def test_one_fault_has_one_signature_whatever_its_sizes() -> None:
    def signature(said: str) -> str:
        return Outcome(Kind.INTERNAL_ERROR, said, "tir-to-llvm").signature

    assert signature("%a_3 has 4 lanes: tensor<4xf32>") == signature("%bb has 17 lanes: tensor<17x2xf64>")
    assert signature("KeyError: 'x'") != signature("ValueError: 'x'")
    assert without_names('result [0, 3, 1] of node "Conv_3" is 1.5e-3') == "result [#] of node '_' is #"


def test_an_outcome_survives_json() -> None:
    found = Outcome(Kind.MISMATCH, "output 'y' is 1, expected 2", "opt level 0 against 3")
    assert Outcome.of_json(found.json()) == found
