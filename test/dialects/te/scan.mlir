// RUN: opt-tool %s --verify-roundtrip | filecheck %s
// A scan of two states and of a length that is a size prints as it is written.

// CHECK-LABEL: te.func @f
te.func @f(%m: index, %X: tensor<?x4xf32> {te.shape = #te.map<(d0) -> (d0, 4)>}) -> (tensor<?x4xf32>, tensor<?x4xf32>) {
  %first = te.compute "first" [1, 4] (%z, %i) : tensor<1x4xf32> {
    %one = arith.constant 1.0 : f32
    te.yield %one : f32
  }
  // CHECK:      %h, %c = te.scan "cell" [%m] (%t) (%h_state = %first, %c_state = %first) :
  // CHECK-SAME: (tensor<1x4xf32>, tensor<1x4xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>) {
  %h, %c = te.scan "cell" [%m] (%t) (%h_state = %first, %c_state = %first) : (tensor<1x4xf32>, tensor<1x4xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>) {
    // CHECK-NEXT: %c_new = te.compute "c_new" [4] (%i) : tensor<4xf32> {
    %c_new = te.compute "c_new" [4] (%i) : tensor<4xf32> {
      // CHECK-NEXT: te.read %c_state[%t - 1, %i] : tensor<?x4xf32>
      %before = te.read %c_state[%t - 1, %i] : tensor<?x4xf32>
      %x = te.read %X[%t, %i] : tensor<?x4xf32>
      %s = arith.addf %before, %x : f32
      te.yield %s : f32
    }
    %h_new = te.compute "h_new" [4] (%i) : tensor<4xf32> {
      %s = te.read %c_new[%i] : tensor<4xf32>
      %u = math.tanh %s : f32
      te.yield %u : f32
    }
    // CHECK: te.yield %h_new, %c_new : tensor<4xf32>, tensor<4xf32>
    te.yield %h_new, %c_new : tensor<4xf32>, tensor<4xf32>
  }
  te.return %h, %c : tensor<?x4xf32>, tensor<?x4xf32>
}
