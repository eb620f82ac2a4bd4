"""The parts of the stair `te-to-tir`, one file for each kind of stage; the pass itself is `passes/te_to_tir.py`."""
