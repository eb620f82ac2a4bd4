// RUN: opt-tool %s -p 'relay-recast{dtype=int8 out-dtype=int32 ops=nn.conv2d skip-layers=-1}' | filecheck %s

// CHECK:      %0 = relay.cast %x {dtype = "int8"}
// CHECK-NEXT: %1 = relay.cast %w {dtype = "int8"}
// CHECK-NEXT: %2 = relay.nn.conv2d %0, %1 {out_dtype = "int32"}
// CHECK-NEXT: %y = relay.cast %2 {dtype = "float32"}
// CHECK-NEXT: %z = relay.nn.conv2d %y, %w : (tensor<1x8x4x4xf32>
func.func @main(%x: tensor<1x8x4x4xf32>, %w: tensor<8x8x1x1xf32>) -> tensor<1x8x4x4xf32> {
  %y = relay.nn.conv2d %x, %w : (tensor<1x8x4x4xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x4x4xf32>
  %z = relay.nn.conv2d %y, %w : (tensor<1x8x4x4xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x4x4xf32>
  return %z : tensor<1x8x4x4xf32>
}
