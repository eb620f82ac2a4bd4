// RUN: opt-tool %s -p cpu-branches-of-bytes | filecheck %s
// What comes from outside is dequantized in the product's kernel anyway; bytes that others read are written anyway.

// CHECK-NOT:     stop_fusion
// CHECK:         %1 = relay.qnn.dequantize %a
// CHECK-NEXT:    %2 = relay.qnn.dequantize %x
// CHECK-NEXT:    %3 = relay.add %1, %2
// CHECK-NOT:     stop_fusion
// CHECK:         %8 = relay.add %5, %7
// CHECK-NEXT:    func.return %3, %8, %c
func.func @main(%x: tensor<1x4x5x5xui8>, %w: tensor<4x4x1x1xi8>) -> (tensor<1x4x5x5xf32>, tensor<1x4x5x5xf32>, tensor<1x4x5x5xui8>) {
  %s = relay.constant dense<0.5> : tensor<f32>
  %z = relay.constant dense<7> : tensor<i32>
  %0 = relay.qnn.conv2d %x, %w, %z, %z, %s, %s : (tensor<1x4x5x5xui8>, tensor<4x4x1x1xi8>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<f32>) -> tensor<1x4x5x5xi32>
  %a = relay.cast %0 {dtype = "uint8"} : (tensor<1x4x5x5xi32>) -> tensor<1x4x5x5xui8>
  %1 = relay.qnn.dequantize %a, %s, %z : (tensor<1x4x5x5xui8>, tensor<f32>, tensor<i32>) -> tensor<1x4x5x5xf32>
  %2 = relay.qnn.dequantize %x, %s, %z : (tensor<1x4x5x5xui8>, tensor<f32>, tensor<i32>) -> tensor<1x4x5x5xf32>
  %3 = relay.add %1, %2 : tensor<1x4x5x5xf32>
  %4 = relay.qnn.conv2d %x, %w, %z, %z, %s, %s : (tensor<1x4x5x5xui8>, tensor<4x4x1x1xi8>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<f32>) -> tensor<1x4x5x5xi32>
  %b = relay.cast %4 {dtype = "uint8"} : (tensor<1x4x5x5xi32>) -> tensor<1x4x5x5xui8>
  %5 = relay.qnn.dequantize %b, %s, %z : (tensor<1x4x5x5xui8>, tensor<f32>, tensor<i32>) -> tensor<1x4x5x5xf32>
  %6 = relay.qnn.conv2d %x, %w, %z, %z, %s, %s : (tensor<1x4x5x5xui8>, tensor<4x4x1x1xi8>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<f32>) -> tensor<1x4x5x5xi32>
  %c = relay.cast %6 {dtype = "uint8"} : (tensor<1x4x5x5xi32>) -> tensor<1x4x5x5xui8>
  %7 = relay.qnn.dequantize %c, %s, %z : (tensor<1x4x5x5xui8>, tensor<f32>, tensor<i32>) -> tensor<1x4x5x5xf32>
  %8 = relay.add %5, %7 : tensor<1x4x5x5xf32>
  return %3, %8, %c : tensor<1x4x5x5xf32>, tensor<1x4x5x5xf32>, tensor<1x4x5x5xui8>
}
