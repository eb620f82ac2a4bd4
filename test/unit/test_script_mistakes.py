"""Wrong options of examples, measurements and tools: status 2 and one line that says what is wrong."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

CASES = [
    ("examples/te_gemm.py --size 0", "--size and --threads are at least 1"),
    ("examples/te_gemm.py --threads 9999", "--threads is at most"),
    ("examples/te_gemm.py --text nosuch", "invalid choice: 'nosuch'"),
    ("examples/te_vector_add.py openlc", "invalid choice: 'openlc'"),
    ("bench/schedule_cost.py --repeats 0", "--repeats is at least 1"),
    ("bench/index_expressions.py nosuch", "no model 'nosuch'"),
    ("bench/models.py nosuch", "no model 'nosuch'"),
    ("bench/models.py --against nosuch", "--against: no commit 'nosuch' in "),
    ("bench/models.py --against HEAD --pairs 1", "--pairs is at least 2"),
    ("bench/math_ulp.py nosuch", "no function 'nosuch'"),
    ("-m tools.reference --nosuch", "unrecognized arguments: --nosuch"),
    ("-m tools.reference nosuch.md", "no page 'nosuch.md': there are schedule.md, "),
    ("-m tools.op_index nosuch", "unrecognized arguments: nosuch"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("words", "said"), CASES, ids=[words for words, _ in CASES])
def test_wrong_option(words: str, said: str) -> None:
    done = subprocess.run([sys.executable, *words.split()], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 2, done.stderr
    assert said in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr and done.stdout == ""
