// RUN: opt-tool %s -p te-to-tir --verify-diagnostics
// An implementation is run against its description once, used or not.

te.tensor_intrin @double {
  te.func @desc(%a: tensor<4xf32>) -> tensor<4xf32> {
    %c = te.compute "c" [4] (%i) : tensor<4xf32> {
      %x = te.read %a[%i] : tensor<4xf32>
      %y = arith.addf %x, %x : f32
      te.yield %y : f32
    }
    te.return %c : tensor<4xf32>
  }
  // expected-error@+1 {{@double: @body gives 3.0 at [0], the description 6.0 (3 of 4 elements differ)}}
  tir.func @body(%a: memref<4xf32>, %c: memref<4xf32>) {
    %x = tir.load %a[lane] : memref<4xf32>, vector<4xf32>
    tir.store %x, %c[lane] : memref<4xf32>, vector<4xf32>
  }
}
te.func @f(%A: tensor<4xf32>) -> tensor<4xf32> {
  %C = te.compute "C" [4] (%i) : tensor<4xf32> {
    %x = te.read %A[%i] : tensor<4xf32>
    te.yield %x : f32
  }
  te.return %C : tensor<4xf32>
}
