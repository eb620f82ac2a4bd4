"""Networks of Caffe: a `.prototxt` of layers, and a `.caffemodel` with their blobs."""
