"""ONNX's own backend tests, each in a process of its own making: `python -m tools.conformance`."""
