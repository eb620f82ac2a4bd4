"""From a model to a program that runs: import, pipelines, compilation, deployment, the Python API."""
