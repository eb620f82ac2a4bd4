// RUN: opt-tool %s -p 'relay-convert-layout{desired-layouts=nn.conv2d:NHWC:default}' | filecheck %s
// As many groups as channels: HWOI, as TVM has it, else HWIO.

// CHECK-LABEL: func.func @depthwise
// CHECK:         relay.nn.conv2d {{.*}} kernel_layout = "HWOI"
func.func @depthwise(%x: tensor<1x3x8x8xf32>, %w: tensor<3x1x3x3xf32>) -> tensor<1x3x6x6xf32> {
  %c = relay.nn.conv2d %x, %w {groups = 3} : (tensor<1x3x8x8xf32>, tensor<3x1x3x3xf32>) -> tensor<1x3x6x6xf32>
  return %c : tensor<1x3x6x6xf32>
}

// CHECK-LABEL: func.func @groups
// CHECK:         relay.nn.conv2d {{.*}} kernel_layout = "HWIO"
func.func @groups(%x: tensor<1x4x8x8xf32>, %w: tensor<4x2x3x3xf32>) -> tensor<1x4x6x6xf32> {
  %c = relay.nn.conv2d %x, %w {groups = 2} : (tensor<1x4x8x8xf32>, tensor<4x2x3x3xf32>) -> tensor<1x4x6x6xf32>
  return %c : tensor<1x4x6x6xf32>
}

// CHECK-LABEL: func.func @one_channel
// CHECK:         relay.nn.conv2d {{.*}} kernel_layout = "HWIO"
func.func @one_channel(%x: tensor<1x1x8x8xf32>, %w: tensor<4x1x3x3xf32>) -> tensor<1x4x6x6xf32> {
  %c = relay.nn.conv2d %x, %w : (tensor<1x1x8x8xf32>, tensor<4x1x3x3xf32>) -> tensor<1x4x6x6xf32>
  return %c : tensor<1x4x6x6xf32>
}
