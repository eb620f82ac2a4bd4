// RUN: opt-tool %s -p tir-to-llvm | filecheck %s
// An iteration of the first loop costs some 2,500 cycles, so a thread takes two of them at least; of the second it
// takes them one by one; of the third, which is over soon, all.

tir.func @f(%x: memref<64x1000xf32>, %y: memref<64x1000xf32>, %z: memref<64xf32>) attributes {outputs = 2 : i64} {
  tir.for %i = 0 to 64 parallel "y.i" {
    tir.for %j = 0 to 1000 "y.j" {
      %v = tir.load %x[%i, %j] : memref<64x1000xf32>
      tir.store %v, %y[%i, %j] : memref<64x1000xf32>
    }
  }
  tir.for %i2 = 0 to 64 parallel "y.i2" {
    tir.for %j2 = 0 to 1000 "y.j2" {
      %v2 = tir.load %x[%i2, %j2] : memref<64x1000xf32>
      %d = arith.divf %v2, %v2 : f32
      tir.store %d, %y[%i2, %j2] : memref<64x1000xf32>
    }
  }
  tir.for %i3 = 0 to 64 parallel "z.i3" {
    %v3 = tir.load %y[%i3, 0] : memref<64x1000xf32>
    tir.store %v3, %z[%i3] : memref<64xf32>
  }
}
func.func @main(%x: memref<64x1000xf32>, %y: memref<64x1000xf32>, %z: memref<64xf32>) attributes {lamina.outputs = 2 : i64} {
  tir.call @f(%x, %y, %z) : memref<64x1000xf32>, memref<64x1000xf32>, memref<64xf32>
  func.return
}
// CHECK: @main.program()
// CHECK: llvm.mlir.addressof @f.0
// CHECK-NEXT: [[EXTENT:%.+]] = llvm.mlir.constant(64) : i64
// CHECK-NEXT: [[TWO:%.+]] = llvm.mlir.constant(2) : i64
// CHECK: llvm.insertvalue [[TWO]], %{{.+}}[0, 2]
// CHECK: [[ONE:%.+]] = llvm.mlir.constant(1) : i64
// CHECK: llvm.insertvalue [[ONE]], %{{.+}}[1, 2]
// CHECK: llvm.insertvalue [[EXTENT]], %{{.+}}[2, 2]
