// RUN: opt-tool %S/../../unit/inputs/tensorflow/network.pb | filecheck %s
// Layouts are those of the graph; a batch that is open is one; the shape of the reshape is computed.

// CHECK:      func.func @main(%x: tensor<1x16x16x3xf32> {lamina.name = "x"}) -> (tensor<1x10xf32> {lamina.name = "probabilities"})
// CHECK:      %conv = relay.nn.conv2d %x, %kernel {{{.*}}data_layout = "NHWC", kernel_layout = "HWIO"{{.*}}padding = [0, 0, 1, 1]
// CHECK:      %relu = relay.nn.relu
// CHECK-NEXT: relay.nn.max_pool2d %relu {layout = "NHWC"
// CHECK:      relay.nn.conv2d {{.*}}groups = 8
// CHECK-NEXT: relay.reshape {{.*}}newshape = [1, 256]
// CHECK:      relay.nn.softmax
