"""TensorFlow Lite models as Relay modules, read with the packages `tflite` and `flatbuffers`: `lamina[tflite]`."""
