// RUN: opt-tool %s -p tir-to-llvm | filecheck %s

// The buffers of a phase take at most 256 KB of a thread's stack together, the smallest first: of three the largest lies
// in the thread's memory.

// CHECK:       llvm.func internal @f.body(%x: !llvm.ptr {llvm.noalias}, %y: !llvm.ptr {llvm.noalias}, %memory: !llvm.ptr {llvm.noalias}, %lo: i64, %hi: i64)
// CHECK:       %[[ZERO:.*]] = llvm.mlir.constant(0) : i64
// CHECK-NEXT:  llvm.getelementptr %memory[%[[ZERO]]]
// CHECK-NEXT:  %[[HALF:.*]] = llvm.mlir.constant(32768) : i64
// CHECK-NEXT:  llvm.alloca %[[HALF]] x f32
// CHECK-NEXT:  llvm.alloca %[[HALF]] x f32
// CHECK-NOT:   llvm.alloca
// CHECK:       llvm.func @f(
tir.func @f(%x: memref<4xf32>, %y: memref<4xf32>) attributes {outputs = 1 : i64} {
  tir.for %i = 0 to 4 parallel "y.i" {
    %most = tir.alloc "most" scope "global" : memref<32769xf32>
    %half = tir.alloc "half" scope "global" : memref<32768xf32>
    %rest = tir.alloc "rest" scope "global" : memref<32768xf32>
    %a = tir.load %x[%i] : memref<4xf32>
    tir.store %a, %most[%i * 9] : memref<32769xf32>
    %b = tir.load %most[%i * 9] : memref<32769xf32>
    tir.store %b, %half[%i * 7] : memref<32768xf32>
    %c = tir.load %half[%i * 7] : memref<32768xf32>
    tir.store %c, %rest[%i * 5] : memref<32768xf32>
    %d = tir.load %rest[%i * 5] : memref<32768xf32>
    tir.store %d, %y[%i] : memref<4xf32>
  }
}
