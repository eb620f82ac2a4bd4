// RUN: opt-tool %s -p relay-qnn-canonicalize | filecheck %s
// 114 * (0 - sum of each row) is a constant, as is the multiplier of the scales: 0.5 is 2**30 / 2**31.

func.func @main(%x: tensor<4x3xui8>) -> tensor<4x2xi8> {
  %w = relay.constant dense<[[1, 2, -1], [0, -4, 4]]> : tensor<2x3xi8>
  %a = relay.constant dense<114> : tensor<i32>
  %b = relay.constant dense<0> : tensor<i32>
  %s = relay.constant dense<0.5> : tensor<f32>
  %t = relay.constant dense<1.0> : tensor<f32>
  %d = relay.qnn.dense %x, %w, %a, %b, %s, %t : (tensor<4x3xui8>, tensor<2x3xi8>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<f32>) -> tensor<4x2xi32>
  %q = relay.qnn.requantize %d, %s, %b, %t, %b : (tensor<4x2xi32>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<4x2xi8>
  return %q : tensor<4x2xi8>
}

// CHECK-NOT:  relay.qnn
// CHECK:      [[P:%[0-9]+]] = relay.nn.dense %x, %w {out_dtype = "int32"} : (tensor<4x3xui8>, tensor<2x3xi8>) -> tensor<4x2xi32>
// CHECK:      [[C:%[0-9]+]] = relay.constant dense<[228, 0]> : tensor<2xi32>
// CHECK-NEXT: %d = relay.subtract [[P]], [[C]]
// CHECK-NEXT: [[L:%[0-9]+]] = relay.cast %d {dtype = "int64"}
// CHECK:      [[M:%[0-9]+]] = relay.constant dense<1073741824> : tensor<i64>
// CHECK:      relay.multiply [[L]], [[M]]
// CHECK:      relay.constant dense<1073741824> : tensor<i64>
// CHECK:      relay.right_shift
// CHECK-NEXT: relay.clip {{.*}} {a_max = 127.0, a_min = -128.0}
// CHECK-NEXT: %q = relay.cast {{.*}} {dtype = "int8"}
