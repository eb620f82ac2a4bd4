"""Programs on several threads: runs at once, forks, the end of the process. In child processes with a time limit."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

LIMIT = 100
"""Seconds; a child that takes longer hangs."""

# Phases of their own: a product, the maxima and sums of rows, quotients.
MODEL = """
func.func @main(%x: tensor<500x64xf32>) -> tensor<500x64xf32> {
  %w = relay.constant dense<0.01> : tensor<64x64xf32>
  %d = relay.nn.dense %x, %w : (tensor<500x64xf32>, tensor<64x64xf32>) -> tensor<500x64xf32>
  %s = relay.add %d, %x : tensor<500x64xf32>
  %p = relay.nn.softmax %s : tensor<500x64xf32>
  func.return %p : tensor<500x64xf32>
}
"""

START = """
import faulthandler, os, signal, sys, threading, time
os.environ["OPENBLAS_NUM_THREADS"] = "1"  # NumPy's own threads are none of our business
import numpy as np
import lamina

faulthandler.register(signal.SIGALRM, chain=True)
signal.alarm(60)

def program(threads):
    return lamina.compile("model.mlir", threads=threads)

def check(exe, seed):
    x = np.random.default_rng(seed).standard_normal(exe.inputs[0].shape).astype(np.float32)
    s = x + x @ np.full((64, 64), 0.01, np.float32)
    e = np.exp(s - s.max(1, keepdims=True))
    np.testing.assert_allclose(exe(x), e / e.sum(1, keepdims=True), 1e-5, 1e-6)

def forever(exe):
    x = np.zeros(exe.inputs[0].shape, np.float32)
    while True:
        exe(x)
"""

AT_ONCE = """
programs = [program(2), program(3)]
failed = []

def work(seed):
    for n in range(8):
        try:
            check(programs[(n + seed) % 2 if seed < 4 else 0], seed * 1000 + n)
        except BaseException as e:
            failed.append(e)

threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
for t in threads: t.start()
for t in threads: t.join()
assert not failed, failed[0]
"""

FORKS = """
exe = program(2)
check(exe, 0)
threading.Thread(target=forever, args=(exe,), daemon=True).start()
for n in range(8):
    child = os.fork()
    if child == 0:
        signal.alarm(30)
        # The thread that runs the program, and may hold its lock, is not here.
        status = 1
        try:
            check(exe, 2 + n)
            status = 0
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
"""

EXITS = """
for n in range(3):
    child = os.fork()
    if child == 0:
        threading.Thread(target=forever, args=(exe,), daemon=True).start()
        time.sleep(0.002 * n)
        sys.exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
threading.Thread(target=forever, args=(exe,), daemon=True).start()
time.sleep(0.01)
"""

IDLE = """
exe = program(2)
for n in range(3):
    check(exe, n)
time.sleep(0.02)
start = time.process_time()
time.sleep(0.3)
assert time.process_time() - start < 0.05, "idle workers spin"
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the model is; its code is compiled once for all tests."""
    path = tmp_path_factory.mktemp("threads")
    (path / "model.mlir").write_text(MODEL)
    return path


@pytest.mark.parametrize("scenario", [AT_ONCE, FORKS, IDLE + EXITS], ids=["at_once", "forks", "idle_and_exits"])
def test_runs(scenario: str, folder: Path) -> None:
    environment = {**os.environ, "LAMINA_CACHE": "on", "LAMINA_CACHE_DIR": str(folder / "cache")}
    # Python 3.12 warns of every fork of a process with threads, which is what is tried here.
    warns = "ignore:This process:DeprecationWarning"
    command = [sys.executable, "-W", warns, "-c", START + scenario]
    done = subprocess.run(
        command, cwd=folder, env=environment, timeout=LIMIT, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
