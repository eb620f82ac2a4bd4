// RUN: opt-tool %s -p cpu-branches-of-bytes | filecheck %s
// The one that is computed last is dequantized in its kernel, where the sum is.

// CHECK-LABEL: func.func @main
// CHECK:      %[[B:.*]] = relay.cast %{{.*}} {dtype = "uint8"}
// CHECK:      %[[A:.*]] = relay.cast %{{.*}} {dtype = "uint8"}
// CHECK:      relay.qnn.dequantize %[[A]]
// CHECK:      %[[P:.*]] = relay.annotation.stop_fusion %[[B]]
// CHECK-NEXT: relay.qnn.dequantize %[[P]]
// CHECK-NEXT: relay.add
func.func @main(%x: tensor<1x4x5x5xui8>, %y: tensor<1x4x5x5xui8>, %w: tensor<4x4x1x1xi8>) -> tensor<1x4x5x5xf32> {
  %s = relay.constant dense<0.5> : tensor<f32>
  %z = relay.constant dense<7> : tensor<i32>
  %0 = relay.qnn.conv2d %y, %w, %z, %z, %s, %s : (tensor<1x4x5x5xui8>, tensor<4x4x1x1xi8>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<f32>) -> tensor<1x4x5x5xi32>
  %b = relay.cast %0 {dtype = "uint8"} : (tensor<1x4x5x5xi32>) -> tensor<1x4x5x5xui8>
  %1 = relay.qnn.conv2d %x, %w, %z, %z, %s, %s : (tensor<1x4x5x5xui8>, tensor<4x4x1x1xi8>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<f32>) -> tensor<1x4x5x5xi32>
  %a = relay.cast %1 {dtype = "uint8"} : (tensor<1x4x5x5xi32>) -> tensor<1x4x5x5xui8>
  %2 = relay.qnn.dequantize %a, %s, %z : (tensor<1x4x5x5xui8>, tensor<f32>, tensor<i32>) -> tensor<1x4x5x5xf32>
  %3 = relay.qnn.dequantize %b, %s, %z : (tensor<1x4x5x5xui8>, tensor<f32>, tensor<i32>) -> tensor<1x4x5x5xf32>
  %4 = relay.add %2, %3 : tensor<1x4x5x5xf32>
  return %4 : tensor<1x4x5x5xf32>
}
