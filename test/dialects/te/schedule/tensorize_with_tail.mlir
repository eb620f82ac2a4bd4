// RUN: opt-tool %s -p te-to-tir --verify-diagnostics
// What is left over is no whole window.

te.tensor_intrin @row {
  te.func @desc(%a: tensor<3xf32>, %b: tensor<3x4xf32>) -> tensor<4xf32> {
    %c = te.compute "c" [4] sum [3] (%j, %k) : tensor<4xf32> {
      %x = te.read %a[%k] : tensor<3xf32>
      %y = te.read %b[%k, %j] : tensor<3x4xf32>
      %p = arith.mulf %x, %y : f32
      te.yield %p : f32
    }
    te.return %c : tensor<4xf32>
  }
  tir.func @update(%a: memref<3xf32>, %b: memref<3x4xf32>, %c: memref<4xf32>) {
    tir.for %k = 0 to 3 reduction "k" {
      %x = tir.load %a[%k] : memref<3xf32>
      %v = tir.broadcast %x : f32 to vector<4xf32>
      %y = tir.load %b[%k, lane] : memref<3x4xf32>, vector<4xf32>
      %p = arith.mulf %v, %y : vector<4xf32>
      %acc = tir.load %c[lane] : memref<4xf32>, vector<4xf32>
      %s = arith.addf %acc, %p : vector<4xf32>
      tir.store %s, %c[lane] : memref<4xf32>, vector<4xf32>
    }
  }
}
te.func @f(%A: tensor<6x8xf32>, %B: tensor<8x4xf32>) -> tensor<6x4xf32> {
  %C = te.compute "C" [6, 4] sum [8] (%i, %j, %k) : tensor<6x4xf32> {
    %x = te.read %A[%i, %k] : tensor<6x8xf32>
    %y = te.read %B[%k, %j] : tensor<8x4xf32>
    %p = arith.mulf %x, %y : f32
    te.yield %p : f32
  }
  te.return %C : tensor<6x4xf32>
}
te.schedule @f {
  %i, %j, %k = te.loops "C" [3]
  %ko, %ki = te.split %k [-1, 3]
  te.reorder %i, %ko, %ki, %j
  // expected-error@+1 {{the loop 'C.k.1' has a tail (min [%ko * -3 + 8]); split so that it divides, or pad}}
  te.tensorize %ki @row
}
