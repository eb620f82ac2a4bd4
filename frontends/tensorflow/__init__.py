"""TensorFlow's inference graphs: frozen GraphDefs and SavedModels, read without TensorFlow."""
