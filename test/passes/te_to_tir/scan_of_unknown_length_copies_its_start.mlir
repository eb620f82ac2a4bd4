// RUN: opt-tool %s -p te-to-tir | filecheck %s
// The scan may be shorter than its initial tensor, which so has a buffer of its own.

// CHECK-LABEL: tir.func @f(%m: index
te.func @f(%m: index, %X: tensor<?xf32> {te.shape = #te.map<(d0) -> (d0)>}) -> tensor<?xf32> {
  // CHECK: %first = tir.alloc "first" scope "global" : memref<2xf32>
  %first = te.compute "first" [2] (%z) : tensor<2xf32> {
    %one = arith.constant 1.0 : f32
    te.yield %one : f32
  }
  // CHECK:      tir.for %i0 = 0 to 2 min [%m] "s.init.i0" {
  // CHECK-NEXT:   tir.block "s.init" {
  // CHECK-NEXT:     %0 = tir.load %first[%i0] : memref<2xf32>
  // CHECK-NEXT:     tir.store %0, %s_out[%i0] : memref<?xf32>
  // CHECK:      tir.for %t = 0 to min [%m - 2] "s.t" {
  // CHECK:          tir.load %s_out[%t] : memref<?xf32>
  // CHECK:          tir.store {{.*}}, %s_out[%t + 2] : memref<?xf32>
  %s = te.scan "s" [%m] (%t) (%state = %first) : (tensor<2xf32>) -> tensor<?xf32> {
    %next = te.compute "next" [] () : tensor<f32> {
      %a = te.read %state[%t - 2] : tensor<?xf32>
      %x = te.read %X[%t] : tensor<?xf32>
      %sum = arith.addf %a, %x : f32
      te.yield %sum : f32
    }
    te.yield %next : tensor<f32>
  }
  te.return %s : tensor<?xf32>
}
