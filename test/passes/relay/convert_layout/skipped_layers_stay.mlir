// RUN: opt-tool %s -p 'relay-convert-layout{desired-layouts=nn.conv2d:NHWC:default skip-layers=0}' | filecheck %s
// RUN: opt-tool %s -p 'relay-convert-layout{desired-layouts=nn.conv2d:NHWC:default skip-layers=-1,7}' | filecheck %s --check-prefix LAST

// CHECK:     %y = relay.nn.conv2d %x, %w : (tensor<1x8x4x4xf32>
// CHECK:     relay.nn.conv2d {{.*}}data_layout = "NHWC"
// LAST:      relay.nn.conv2d {{.*}}data_layout = "NHWC"
// LAST:      relay.layout_transform
// LAST-NEXT: relay.nn.conv2d %{{.*}}, %w : (tensor<1x8x4x4xf32>
func.func @main(%x: tensor<1x8x4x4xf32>, %w: tensor<8x8x1x1xf32>) -> tensor<1x8x4x4xf32> {
  %y = relay.nn.conv2d %x, %w : (tensor<1x8x4x4xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x4x4xf32>
  %z = relay.nn.conv2d %y, %w : (tensor<1x8x4x4xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x4x4xf32>
  return %z : tensor<1x8x4x4xf32>
}
