// RUN: opt-tool %s -p te-to-tir | filecheck %s
// Arithmetic gets the time by tir.index. The loop begins at 0, the time at 1: behind what is there at first.

te.func @f(%X: tensor<1x8xi32>) -> tensor<6x8xi32> {
  %s = te.scan "s" [6] (%t) (%state = %X) : (tensor<1x8xi32>) -> tensor<6x8xi32> {
    %next = te.compute "next" [8] (%i) : tensor<8xi32> {
      %before = te.read %state[%t - 1, %i] : tensor<6x8xi32>
      %now = arith.index_cast %t : index to i32
      %sum = arith.addi %before, %now : i32
      te.yield %sum : i32
    }
    te.yield %next : tensor<8xi32>
  }
  te.return %s : tensor<6x8xi32>
}

// CHECK:      %0 = tir.index [%t + 1] : index
// CHECK-NEXT: %now = arith.index_cast %0 : index to i32
