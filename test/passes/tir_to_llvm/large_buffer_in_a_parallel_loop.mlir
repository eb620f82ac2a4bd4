// RUN: opt-tool %s -p tir-to-llvm | filecheck %s

// Each iteration has a buffer of its own; one of more than a megabyte is not put on the stack of a thread.

// CHECK:       %[[SMALL:.*]] = llvm.mlir.constant(262144) : i64
// CHECK-NEXT:  llvm.alloca %[[SMALL]] x f32
// CHECK-NEXT:  llvm.mlir.constant
// CHECK:       %[[LARGE:.*]] = llvm.call @malloc(%{{.*}}) : (i64) -> !llvm.ptr
// CHECK:       llvm.call @free(%[[LARGE]]) : (!llvm.ptr) -> ()
tir.func @f(%x: memref<4xf32>, %y: memref<4xf32>) attributes {outputs = 1 : i64} {
  tir.for %i = 0 to 4 parallel "y.i" {
    %small = tir.alloc "small" scope "global" : memref<262144xf32>
    %large = tir.alloc "large" scope "global" : memref<262145xf32>
    %a = tir.load %x[%i] : memref<4xf32>
    tir.store %a, %small[%i * 9] : memref<262144xf32>
    %b = tir.load %small[%i * 9] : memref<262144xf32>
    tir.store %b, %large[%i * 7] : memref<262145xf32>
    %c = tir.load %large[%i * 7] : memref<262145xf32>
    tir.store %c, %y[%i] : memref<4xf32>
  }
}
