// RUN: opt-tool %s -p relay-qnn-canonicalize | filecheck %s
// A product with the inverse of the scale, in which the zero point is added before the rounding.

// CHECK:      %[[INV:.*]] = relay.constant dense<3.33333325>
// CHECK-NEXT: %[[X:.*]] = relay.multiply %x, %[[INV]]
// CHECK-NEXT: %[[Z:.*]] = relay.constant dense<7.000000e+00>
// CHECK-NEXT: %[[M:.*]] = relay.add %[[X]], %[[Z]]
// CHECK-NEXT: %[[R:.*]] = relay.round %[[M]]
// CHECK-NEXT: %[[C:.*]] = relay.clip %[[R]] {a_max = 255.0, a_min = 0.0}
// CHECK-NEXT: relay.cast %[[C]] {dtype = "uint8"}
func.func @main(%x: tensor<2x4xf32>) -> tensor<2x4xui8> {
  %s = relay.constant dense<0.3> : tensor<f32>
  %z = relay.constant dense<7> : tensor<i32>
  %q = relay.qnn.quantize %x, %s, %z {out_dtype = "uint8", rounding = "FBGEMM"} : (tensor<2x4xf32>, tensor<f32>, tensor<i32>) -> tensor<2x4xui8>
  return %q : tensor<2x4xui8>
}
