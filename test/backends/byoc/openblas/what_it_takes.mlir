// RUN: opt-tool %s -p 'relay-merge-composite{patterns=openblas},relay-annotate-target{targets=openblas},relay-merge-compiler-regions,relay-partition-graph' | filecheck %s
// The longest chain that fits is one composite. A sum that changes the shape, half precision, another layout stay.

// CHECK:      func.func @sums
// CHECK-NEXT:   func.call @tvmgen_default_openblas_sums_0(%x, %w, %b, %y)
// CHECK:      func.func @grows
// CHECK-NEXT:   %d = func.call @tvmgen_default_openblas_grows_0(%x, %w)
// CHECK-NEXT:   relay.add %d, %b
// CHECK:      func.func @half
// CHECK-NEXT:   relay.nn.dense
// CHECK:      func.func @nhwc
// CHECK-NEXT:   relay.nn.conv2d
// CHECK:      Composite = "openblas.conv2d_bias_sum_relu"
func.func @sums(%x: tensor<1x4x8x8xf32>, %w: tensor<4x4x1x1xf32>, %b: tensor<4xf32>, %y: tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32> {
  %c = relay.nn.conv2d %x, %w : (tensor<1x4x8x8xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x8x8xf32>
  %d = relay.nn.bias_add %c, %b : (tensor<1x4x8x8xf32>, tensor<4xf32>) -> tensor<1x4x8x8xf32>
  %e = relay.add %d, %y : tensor<1x4x8x8xf32>
  %r = relay.nn.relu %e : tensor<1x4x8x8xf32>
  return %r : tensor<1x4x8x8xf32>
}
func.func @grows(%x: tensor<1x8xf32>, %w: tensor<4x8xf32>, %b: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %d = relay.nn.dense %x, %w : (tensor<1x8xf32>, tensor<4x8xf32>) -> tensor<1x4xf32>
  %e = relay.add %d, %b : (tensor<1x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  return %e : tensor<3x4xf32>
}
func.func @half(%x: tensor<1x8xf16>, %w: tensor<4x8xf16>) -> tensor<1x4xf16> {
  %d = relay.nn.dense %x, %w : (tensor<1x8xf16>, tensor<4x8xf16>) -> tensor<1x4xf16>
  return %d : tensor<1x4xf16>
}
func.func @nhwc(%x: tensor<1x8x8x4xf32>, %w: tensor<1x1x4x4xf32>) -> tensor<1x8x8x4xf32> {
  %c = relay.nn.conv2d %x, %w {data_layout = "NHWC", kernel_layout = "HWIO"} : (tensor<1x8x8x4xf32>, tensor<1x1x4x4xf32>) -> tensor<1x8x8x4xf32>
  %r = relay.nn.relu %c : tensor<1x8x8x4xf32>
  return %r : tensor<1x8x8x4xf32>
}
