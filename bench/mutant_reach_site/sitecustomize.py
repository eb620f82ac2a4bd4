"""Imported by every Python that `bench/mutants.py --record` starts: commands of tests record what they reach."""

import os

if os.environ.get("LAMINA_REACH_TEST"):
    from pathlib import Path

    from mutant_reach import FOLDER, TEST, Recorder

    Recorder(Path(os.environ[FOLDER]), os.environ[TEST])
