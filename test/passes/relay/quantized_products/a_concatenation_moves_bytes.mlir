// RUN: opt-tool %s -p relay-quantized-products | filecheck %s
// Each tensor is brought to the scale of the result by itself; one that has it already is put there as it is.

// CHECK-LABEL: func.func @main
// CHECK-NOT:  relay.qnn.dequantize %x
// CHECK:      %[[D:.*]] = relay.qnn.dequantize %y, %t, %z
// CHECK:      %[[Q:.*]] = relay.qnn.quantize %[[D]], %s, %z
// CHECK:      relay.concatenate %x, %[[Q]] {axis = 1} : (tensor<1x2x4xui8>, tensor<1x3x4xui8>) -> tensor<1x5x4xui8>
// CHECK-NEXT: func.return
func.func @main(%x: tensor<1x2x4xui8>, %y: tensor<1x3x4xui8>) -> tensor<1x5x4xui8> {
  %s = relay.constant dense<0.5> : tensor<f32>
  %t = relay.constant dense<0.25> : tensor<f32>
  %z = relay.constant dense<7> : tensor<i32>
  %0 = relay.qnn.dequantize %x, %s, %z : (tensor<1x2x4xui8>, tensor<f32>, tensor<i32>) -> tensor<1x2x4xf32>
  %1 = relay.qnn.dequantize %y, %t, %z : (tensor<1x3x4xui8>, tensor<f32>, tensor<i32>) -> tensor<1x3x4xf32>
  %2 = relay.concatenate %0, %1 {axis = 1} : (tensor<1x2x4xf32>, tensor<1x3x4xf32>) -> tensor<1x5x4xf32>
  %3 = relay.qnn.quantize %2, %s, %z {out_dtype = "uint8", rounding = "TONEVEN"} : (tensor<1x5x4xf32>, tensor<f32>, tensor<i32>) -> tensor<1x5x4xui8>
  return %3 : tensor<1x5x4xui8>
}

// Somebody else reads the floats: they have to be put together all the same.
// CHECK-LABEL: func.func @shared
// CHECK:      relay.concatenate %{{.*}} : (tensor<2xf32>, tensor<3xf32>) -> tensor<5xf32>
// CHECK:      relay.qnn.quantize %{{.*}} : (tensor<5xf32>
func.func @shared(%x: tensor<2xui8>, %y: tensor<3xui8>) -> (tensor<5xui8>, tensor<5xf32>) {
  %s = relay.constant dense<0.5> : tensor<f32>
  %z = relay.constant dense<7> : tensor<i32>
  %0 = relay.qnn.dequantize %x, %s, %z : (tensor<2xui8>, tensor<f32>, tensor<i32>) -> tensor<2xf32>
  %1 = relay.qnn.dequantize %y, %s, %z : (tensor<3xui8>, tensor<f32>, tensor<i32>) -> tensor<3xf32>
  %2 = relay.concatenate %0, %1 : (tensor<2xf32>, tensor<3xf32>) -> tensor<5xf32>
  %3 = relay.qnn.quantize %2, %s, %z {out_dtype = "uint8", rounding = "TONEVEN"} : (tensor<5xf32>, tensor<f32>, tensor<i32>) -> tensor<5xui8>
  return %3, %2 : tensor<5xui8>, tensor<5xf32>
}
