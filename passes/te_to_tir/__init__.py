"""The stair `te-to-tir`: one file for each kind of stage; the pass itself is `te_to_tir.py`."""
