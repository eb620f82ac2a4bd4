// RUN: opt-tool %s -p te-to-tir --verify-diagnostics
// What a tensorized block reads is no longer moved into its loops.

te.tensor_intrin @copy4 {
  te.func @desc(%a: tensor<4xf32>) -> tensor<4xf32> {
    %c = te.compute "c" [4] (%i) : tensor<4xf32> {
      %x = te.read %a[%i] : tensor<4xf32>
      te.yield %x : f32
    }
    te.return %c : tensor<4xf32>
  }
  tir.func @body(%a: memref<4xf32>, %c: memref<4xf32>) {
    %x = tir.load %a[lane] : memref<4xf32>, vector<4xf32>
    tir.store %x, %c[lane] : memref<4xf32>, vector<4xf32>
  }
}
te.func @f(%A: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %P = te.compute "P" [8, 4] (%i, %j) : tensor<8x4xf32> {
    %x = te.read %A[%i, %j] : tensor<8x4xf32>
    %y = arith.addf %x, %x : f32
    te.yield %y : f32
  }
  %C = te.compute "C" [8, 4] (%i, %j) : tensor<8x4xf32> {
    %x = te.read %P[%i, %j] : tensor<8x4xf32>
    te.yield %x : f32
  }
  te.return %C : tensor<8x4xf32>
}
te.schedule @f {
  %i, %j = te.loops "C" [2]
  te.tensorize %j @copy4
  // expected-error@+1 {{a tensorized block accesses P; what moves or caches it comes before te.tensorize}}
  %pi, %pj = te.compute_at "P" at %i [2]
}
