// RUN: opt-tool %s -p te-to-tir --split-input-file --verify-diagnostics
// An element that needs another one of an earlier time cannot run over all its times first.

te.func @f(%X: tensor<6x8xf32>) -> tensor<6x8xf32> {
  %first = te.compute "first" [1, 8] (%z, %i) : tensor<1x8xf32> {
    %x = te.read %X[0, %i] : tensor<6x8xf32>
    te.yield %x : f32
  }
  %s = te.scan "s" [6] (%t) (%state = %first) : (tensor<1x8xf32>) -> tensor<6x8xf32> {
    %next = te.compute "next" [8] (%i) : tensor<8xf32> {
      %before = te.read %state[%t - 1, %i - 1] where [%i - 1 >= 0] : tensor<6x8xf32>
      %h = te.read %X[%t, %i] : tensor<6x8xf32>
      %sum = arith.addf %before, %h : f32
      te.yield %sum : f32
    }
    te.yield %next : tensor<8xf32>
  }
  te.return %s : tensor<6x8xf32>
}
te.schedule @f {
  %t, %i = te.loops "next" [2]
  // expected-error@+1 {{te.reorder: reorder of 'next.i' outside of 's.t': %s_out[%t + 1, %i] needs %s_out[%t, %i - 1] of an earlier iteration}}
  te.reorder %i, %t
}
