// RUN: opt-tool %s -p cpu-channels-first | filecheck %s
// Moving the image there and back takes longer than nine products an element.

// CHECK-NOT: relay.layout_transform
// CHECK:     relay.nn.conv2d %x, %w {data_layout = "NHWC"
func.func @main(%x: tensor<1x9x9x8xf32>, %w: tensor<3x3x1x8xf32>) -> tensor<1x9x9x8xf32> {
  %a = relay.nn.conv2d %x, %w {groups = 8, padding = [1, 1, 1, 1], data_layout = "NHWC", kernel_layout = "HWIO"} : (tensor<1x9x9x8xf32>, tensor<3x3x1x8xf32>) -> tensor<1x9x9x8xf32>
  return %a : tensor<1x9x9x8xf32>
}
