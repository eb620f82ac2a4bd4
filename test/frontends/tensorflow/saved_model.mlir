// RUN: opt-tool %S/../../unit/inputs/tensorflow/layers | filecheck %s
// Functions are put in place, variables are weights with the names of their nodes.

// CHECK:      func.func @main(%image: tensor<1x6x6x2xf32> {lamina.name = "image"})
// CHECK:      %weights = relay.constant
// CHECK-NEXT: relay.nn.conv2d %image, %weights
// CHECK-NOT:  relay.call
// CHECK:      func.return
