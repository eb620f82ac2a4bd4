"""What compilations leave to the collector of cycles: the checks of `collector_checks.py`.

They run in a process of their own: a look at all that a worker of pytest holds takes a second, and they take a dozen.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

CHECKS = Path(__file__).with_name("collector_checks.py")


def test_the_checks_of_the_collector_pass() -> None:
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(CHECKS)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "7 passed" in done.stdout, done.stdout + done.stderr
