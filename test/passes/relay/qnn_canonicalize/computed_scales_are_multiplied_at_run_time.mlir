// RUN: opt-tool %s -p relay-qnn-canonicalize | filecheck %s
// Scales that are arguments mean the same; the multiplier is computed where the program runs.

func.func @main(%x: tensor<5xi32>, %s: tensor<5xf32>, %t: tensor<f32>, %z: tensor<i32>) -> tensor<5xui8> {
  %zero = relay.constant dense<0> : tensor<i32>
  %q = relay.qnn.requantize %x, %s, %zero, %t, %z {out_dtype = "uint8", rounding = "TONEAREST"} : (tensor<5xi32>, tensor<5xf32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<5xui8>
  return %q : tensor<5xui8>
}

// CHECK:      [[M:%[0-9]+]], [[N:%[0-9]+]] = relay.multiplier_shift %s, %t : (tensor<5xf32>, tensor<f32>) -> (tensor<5xi64>, tensor<5xi64>)
// CHECK:      relay.where
// CHECK:      relay.right_shift {{.*}}, [[N]]
// CHECK:      %q = relay.cast
