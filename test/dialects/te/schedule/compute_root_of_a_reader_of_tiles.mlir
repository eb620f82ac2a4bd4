// RUN: opt-tool %s -p te-to-tir --verify-diagnostics

te.func @f(%A: tensor<8xf32>) -> tensor<8xf32> {
  %a = te.compute "P" [8] (%i) : tensor<8xf32> {
    %x = te.read %A[%i] : tensor<8xf32>
    %n = arith.negf %x : f32
    te.yield %n : f32
  }
  %b = te.compute "B" [8] (%i) : tensor<8xf32> {
    %x = te.read %a[%i] : tensor<8xf32>
    %n = arith.addf %x, %x : f32
    te.yield %n : f32
  }
  %c = te.compute "C" [8] (%i) : tensor<8xf32> {
    %x = te.read %b[%i] : tensor<8xf32>
    %s = arith.mulf %x, %x : f32
    te.yield %s : f32
  }
  te.return %c : tensor<8xf32>
}
te.schedule @f {
  %i = te.loops "C" [1]
  %b = te.compute_at "B" at %i [1]
  %p = te.compute_at "P" at %i [1]
  // expected-error@+1 {{compute_root of 'B': it reads P, which lives in a loop}}
  %r = te.compute_root "B" [1]
}
