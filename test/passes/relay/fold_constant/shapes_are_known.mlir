// RUN: opt-tool %s -p relay-fold-constant | filecheck %s
// The shape of a tensor is known although its values are not; what is computed from it folds too.

// CHECK:      func.func @main
// CHECK-NEXT:   %n = relay.constant dense<15> : tensor<i32>
// CHECK-NEXT:   %d = relay.constant dense<[6, 10]> : tensor<2xi64>
// CHECK-NEXT:   func.return %n, %d
func.func @main(%x: tensor<3x5xf32>) -> (tensor<i32>, tensor<2xi64>) {
  %n = relay.ndarray_size %x : (tensor<3x5xf32>) -> tensor<i32>
  %s = relay.shape_of %x {dtype = "int64"} : (tensor<3x5xf32>) -> tensor<2xi64>
  %d = relay.add %s, %s : tensor<2xi64>
  return %n, %d : tensor<i32>, tensor<2xi64>
}
