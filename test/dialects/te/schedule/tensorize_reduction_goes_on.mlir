// RUN: opt-tool %s -p te-to-tir --verify-diagnostics
// A body that computes all of a reduction cannot add to what an outer loop has summed so far.

te.tensor_intrin @sum4 {
  te.func @desc(%a: tensor<4xi32>) -> tensor<i32> {
    %c = te.compute "c" [] sum [4] (%k) : tensor<i32> {
      %x = te.read %a[%k] : tensor<4xi32>
      te.yield %x : i32
    }
    te.return %c : tensor<i32>
  }
  tir.func @body(%a: memref<4xi32>, %c: memref<i32>) {
    %x = tir.load %a[0] : memref<4xi32>
    %y = tir.load %a[1] : memref<4xi32>
    %z = tir.load %a[2] : memref<4xi32>
    %w = tir.load %a[3] : memref<4xi32>
    %xy = arith.addi %x, %y : i32
    %zw = arith.addi %z, %w : i32
    %s = arith.addi %xy, %zw : i32
    tir.store %s, %c[] : memref<i32>
  }
}
te.func @f(%A: tensor<3x8xi32>) -> tensor<3xi32> {
  %C = te.compute "C" [3] sum [8] (%i, %k) : tensor<3xi32> {
    %x = te.read %A[%i, %k] : tensor<3x8xi32>
    te.yield %x : i32
  }
  te.return %C : tensor<3xi32>
}
te.schedule @f {
  %i, %k = te.loops "C" [2]
  %ko, %ki = te.split %k [-1, 4]
  // expected-error@+1 {{the reduction goes on in the loop 'C.k.0', and the intrinsic has no @update}}
  te.tensorize %ki @sum4
}
