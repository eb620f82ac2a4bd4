// RUN: opt-tool %s --verify-roundtrip | filecheck %s
// RUN: opt-tool %s -p te-to-tir | filecheck %s --check-prefix AFTER
// Four products at once: what it computes, and how; te.tensorize puts it where a nest computes just that.

te.tensor_intrin @add_4 {
  te.func @desc(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
    %c = te.compute "c" [4] (%i) : tensor<4xf32> {
      %x = te.read %a[%i] : tensor<4xf32>
      %y = te.read %b[%i] : tensor<4xf32>
      %s = arith.addf %x, %y : f32
      te.yield %s : f32
    }
    te.return %c : tensor<4xf32>
  }
  tir.func @body(%a: memref<4xf32>, %b: memref<4xf32>, %c: memref<4xf32>) {
    %x = tir.load %a[lane] : memref<4xf32>, vector<4xf32>
    %y = tir.load %b[lane] : memref<4xf32>, vector<4xf32>
    %s = arith.addf %x, %y : vector<4xf32>
    tir.store %s, %c[lane] : memref<4xf32>, vector<4xf32>
  }
}
te.func @f(%A: tensor<8xf32>, %B: tensor<8xf32>) -> tensor<8xf32> {
  %C = te.compute "C" [8] (%i) : tensor<8xf32> {
    %x = te.read %A[%i] : tensor<8xf32>
    %y = te.read %B[%i] : tensor<8xf32>
    %s = arith.addf %x, %y : f32
    te.yield %s : f32
  }
  te.return %C : tensor<8xf32>
}
te.schedule @f {
  %i = te.loops "C" [1]
  %io, %ii = te.split %i [-1, 4]
  te.tensorize %ii @add_4
}

// CHECK: te.tensor_intrin @add_4
// AFTER: tir.func @f(%A: memref<8xf32>, %B: memref<8xf32>, %C_out: memref<8xf32>) attributes {outputs = 1 : i64}
// AFTER: tir.for %io = 0 to 2 "C.i.0"
// AFTER: tir.block "C" attributes {tensor_intrin = @add_4}
// AFTER: %x = tir.load %A[%io * 4 + lane] : memref<8xf32>, vector<4xf32>
// AFTER: %s = arith.addf %x, %y : vector<4xf32>
