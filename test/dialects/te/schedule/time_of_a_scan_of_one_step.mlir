// RUN: opt-tool %s -p te-to-tir | filecheck %s
// The one step behind the first needs no earlier one: it may run as a loop of any kind.

te.func @f(%X: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %first = te.compute "first" [1, 8] (%z, %i) : tensor<1x8xf32> {
    %x = te.read %X[0, %i] : tensor<2x8xf32>
    te.yield %x : f32
  }
  %s = te.scan "s" [2] (%t) (%state = %first) : (tensor<1x8xf32>) -> tensor<2x8xf32> {
    %next = te.compute "next" [8] (%i) : tensor<8xf32> {
      %before = te.read %state[%t - 1, %i] : tensor<2x8xf32>
      %x = te.read %X[%t, %i] : tensor<2x8xf32>
      %sum = arith.addf %before, %x : f32
      te.yield %sum : f32
    }
    te.yield %next : tensor<8xf32>
  }
  te.return %s : tensor<2x8xf32>
}
te.schedule @f {
  %t, %i = te.loops "next" [2]
  te.parallel %t
}

// CHECK: tir.for %t = 0 to 1 parallel "s.t"
