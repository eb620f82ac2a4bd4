// RUN: opt-tool %s -p te-to-tir --verify-diagnostics

te.func @f(%A: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %m = te.compute "M" [4] max [8] (%i, %k) : tensor<4xf32> {
    %a = te.read %A[%i, %k] : tensor<4x8xf32>
    te.yield %a : f32
  }
  %c = te.compute "C" [4, 8] (%i, %j) : tensor<4x8xf32> {
    %a = te.read %A[%i, %j] : tensor<4x8xf32>
    %x = te.read %m[%i] : tensor<4xf32>
    %s = arith.subf %a, %x : f32
    te.yield %s : f32
  }
  te.return %c : tensor<4x8xf32>
}
te.schedule @f {
  %i, %k = te.loops "M" [2]
  %y, %x = te.loops "C" [2]
  // expected-error@+1 {{reorder: 'M.k' is not in one nest with 'C.j'}}
  te.reorder %x, %k
}
