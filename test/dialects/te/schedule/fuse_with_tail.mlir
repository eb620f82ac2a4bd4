// RUN: opt-tool %s -p te-to-tir --verify-diagnostics

te.func @f(%A: tensor<10xf32>) -> tensor<10xf32> {
  %c = te.compute "C" [10] (%i) : tensor<10xf32> {
    %a = te.read %A[%i] : tensor<10xf32>
    te.yield %a : f32
  }
  te.return %c : tensor<10xf32>
}
te.schedule @f {
  %i = te.loops "C" [1]
  %io, %ii = te.split %i [-1, 4]
  // expected-error@+1 {{a loop with a tail does not fuse}}
  %g = te.fuse %io, %ii
}
