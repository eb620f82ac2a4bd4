// RUN: opt-tool %s --verify-roundtrip | filecheck %s
// Reducers as regions and equations of several values print as they are written.

// CHECK-LABEL: te.func @argmax(%X: tensor<4x8xf32>) -> (tensor<4xi32>, tensor<4xf32>) {
te.func @argmax(%X: tensor<4x8xf32>) -> (tensor<4xi32>, tensor<4xf32>) {
  // CHECK-NEXT: %p, %v = te.compute "argmax" [4] reduce [8] (%i, %k) : tensor<4xi32>, tensor<4xf32> {
  %p, %v = te.compute "argmax" [4] reduce [8] (%i, %k) : tensor<4xi32>, tensor<4xf32> {
    %n = te.index [%k] : index
    %place = arith.index_cast %n : index to i32
    %x = te.read %X[%i, %k] : tensor<4x8xf32>
    // CHECK: te.yield %place, %x : i32, f32
    te.yield %place, %x : i32, f32
  // CHECK-NEXT: } combine (%p0, %v0, %p1, %v1) {
  } combine (%p0, %v0, %p1, %v1) {
    // CHECK-NEXT: %c = arith.cmpf oge, %v0, %v1 : f32
    %c = arith.cmpf oge, %v0, %v1 : f32
    %a = arith.select %c, %p0, %p1 : i32
    %b = arith.select %c, %v0, %v1 : f32
    te.yield %a, %b : i32, f32
  // CHECK: } identity {
  } identity {
    // CHECK-NEXT: %none = arith.constant -1 : i32
    %none = arith.constant -1 : i32
    %low = arith.constant 0xff800000 : f32
    te.yield %none, %low : i32, f32
  }
  te.return %p, %v : tensor<4xi32>, tensor<4xf32>
}

// CHECK-LABEL: te.func @two
te.func @two(%X: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xi1>) {
  // CHECK-NEXT: %a, %b = te.compute "two" [4] (%i) : tensor<4xf32>, tensor<4xi1> {
  %a, %b = te.compute "two" [4] (%i) : tensor<4xf32>, tensor<4xi1> {
    %x = te.read %X[%i] : tensor<4xf32>
    %c = te.condition [%i >= 2] : i1
    te.yield %x, %c : f32, i1
  }
  te.return %a, %b : tensor<4xf32>, tensor<4xi1>
}
