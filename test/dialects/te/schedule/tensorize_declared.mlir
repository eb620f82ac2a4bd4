// RUN: opt-tool %s --verify-roundtrip | filecheck %s --check-prefix TEXT
// RUN: opt-tool %s -p te-to-tir | filecheck %s
// An intrinsic declared beside the program. The order of its loops and of a product's factors is another one, the
// init is left as plain loops.

te.tensor_intrin @row {
  te.func @desc(%a: tensor<8xf32>, %b: tensor<8x4xf32>) -> tensor<4xf32> {
    %c = te.compute "c" [4] sum [8] (%j, %k) : tensor<4xf32> {
      %x = te.read %a[%k] : tensor<8xf32>
      %y = te.read %b[%k, %j] : tensor<8x4xf32>
      %p = arith.mulf %x, %y : f32
      te.yield %p : f32
    }
    te.return %c : tensor<4xf32>
  }
  tir.func @update(%a: memref<8xf32>, %b: memref<8x4xf32>, %c: memref<4xf32>) {
    tir.for %k = 0 to 8 reduction "k" {
      %x = tir.load %a[%k] : memref<8xf32>
      %v = tir.broadcast %x : f32 to vector<4xf32>
      %y = tir.load %b[%k, lane] : memref<8x4xf32>, vector<4xf32>
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
    %p = arith.mulf %y, %x : f32
    te.yield %p : f32
  }
  te.return %C : tensor<6x4xf32>
}
te.schedule @f {
  %i, %j, %k = te.loops "C" [3]
  te.reorder %i, %k, %j
  te.tensorize %k @row
}

// TEXT: te.tensor_intrin @row {
// TEXT:   te.func @desc(%a: tensor<8xf32>, %b: tensor<8x4xf32>) -> tensor<4xf32> {
// TEXT:   tir.func @update(%a: memref<8xf32>, %b: memref<8x4xf32>, %c: memref<4xf32>)
// TEXT:   te.tensorize %k @row

// CHECK-NOT:    te.tensor_intrin
// CHECK:        tir.for %i = 0 to 6 "C.i" {
// CHECK-NEXT:     tir.block "C" attributes {tensor_intrin = @row} init {
// CHECK-NEXT:       tir.for %j = 0 to 4 "C.j.init" {
// CHECK-NEXT:         %0 = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:         tir.store %0, %C_out[%i, %j] : memref<6x4xf32>
// CHECK-NEXT:       }
// CHECK-NEXT:     } do {
// CHECK-NEXT:       tir.for %k = 0 to 8 reduction "C.k_1" {
// CHECK-NEXT:         %x = tir.load %A[%i, %k] : memref<6x8xf32>
// CHECK-NEXT:         %v = tir.broadcast %x : f32 to vector<4xf32>
// CHECK-NEXT:         %y = tir.load %B[%k, lane] : memref<8x4xf32>, vector<4xf32>
