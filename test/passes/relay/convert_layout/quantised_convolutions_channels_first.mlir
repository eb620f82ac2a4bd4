// RUN: opt-tool %s -p 'relay-convert-layout{desired-layouts=qnn.conv2d:NCHW:default}' | filecheck %s
// The bias and the numbers along channels of requantisation come along; the result goes back.

// CHECK: %c = relay.qnn.conv2d {{.*}} {padding = [1, 1, 1, 1]} : (tensor<1x3x8x8xui8>, tensor<4x3x3x3xui8>,
// CHECK: %d = relay.nn.bias_add %c, %b : (tensor<1x4x8x8xi32>, tensor<4xi32>)
// CHECK: %e = relay.qnn.requantize %d, {{.*}} {axis = 1, out_dtype = "uint8"}
// CHECK: relay.layout_transform %e {dst_layout = "NHWC", src_layout = "NCHW"}
func.func @main(%x: tensor<1x8x8x3xui8>, %w: tensor<3x3x3x4xui8>, %b: tensor<4xi32>) -> tensor<1x8x8x4xui8> {
  %zi = relay.constant dense<128> : tensor<i32>
  %zk = relay.constant dense<120> : tensor<i32>
  %si = relay.constant dense<0.5> : tensor<f32>
  %sk = relay.constant dense<0.25> : tensor<f32>
  %sq = relay.constant dense<0.125> : tensor<f32>
  %so = relay.constant dense<2.0> : tensor<f32>
  %c = relay.qnn.conv2d %x, %w, %zi, %zk, %si, %sk {data_layout = "NHWC", kernel_layout = "HWIO", padding = [1, 1, 1, 1], out_dtype = "int32"}
    : (tensor<1x8x8x3xui8>, tensor<3x3x3x4xui8>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<f32>) -> tensor<1x8x8x4xi32>
  %d = relay.nn.bias_add %c, %b {axis = 3} : (tensor<1x8x8x4xi32>, tensor<4xi32>) -> tensor<1x8x8x4xi32>
  %e = relay.qnn.requantize %d, %sq, %zi, %so, %zi {out_dtype = "uint8"} : (tensor<1x8x8x4xi32>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<1x8x8x4xui8>
  return %e : tensor<1x8x8x4xui8>
}
