// RUN: opt-tool %s -p tir-to-llvm | filecheck %s

// Each thread has buffers of its own. One of more than 256 KB is not put on its stack: the program has memory for each of
// its threads behind the arena, and a kernel finds that of its thread by the thread's number.

// CHECK:       lamina.program = {name = "main", arena = 128 : i64, thread_memory = 524416 : i64,
// CHECK:       llvm.func internal @f.body(%x: !llvm.ptr {llvm.noalias}, %y: !llvm.ptr {llvm.noalias}, %memory: !llvm.ptr {llvm.noalias}, %lo: i64, %hi: i64)
// CHECK:       %[[SMALL:.*]] = llvm.mlir.constant(65536) : i64
// CHECK-NEXT:  llvm.alloca %[[SMALL]] x f32
// CHECK:       %[[PLACE:.*]] = llvm.mlir.constant(262208) : i64
// CHECK:       llvm.getelementptr %memory[%[[PLACE]]]
// CHECK:       llvm.func @f(%args: !llvm.ptr, %lo_1: i64, %hi_1: i64, %thread: i64)
// CHECK:       %[[BYTES:.*]] = llvm.mlir.constant(524416) : i64
// CHECK:       %[[BEFORE:.*]] = llvm.mul %thread, %[[BYTES]]
// CHECK-NEXT:  %[[OWN:.*]] = llvm.getelementptr %memory_1[%[[BEFORE]]] : (!llvm.ptr, i64) -> !llvm.ptr, i8
// CHECK-NEXT:  llvm.call @f.body(%x_1, %y_1, %[[OWN]], %lo_1, %hi_1)
// The arena's rows are 1: the kernel's buffer is at 64, the memory of threads at 128.
// CHECK:       llvm.mlir.global external constant @main.arguments(dense<{{\[\[}}2, 0], [3, 0], [1, 128{{\]\]}}>
// CHECK-NOT:   @malloc
builtin.module {
  tir.func @f(%x: memref<4xf32>, %y: memref<4xf32>) attributes {outputs = 1 : i64} {
    tir.for %i = 0 to 4 parallel "y.i" {
      %small = tir.alloc "small" scope "global" : memref<65536xf32>
      %large = tir.alloc "large" scope "global" : memref<65537xf32>
      %other = tir.alloc "other" scope "global" : memref<262145xi8>
      %a = tir.load %x[%i] : memref<4xf32>
      tir.store %a, %small[%i * 9] : memref<65536xf32>
      %b = tir.load %small[%i * 9] : memref<65536xf32>
      tir.store %b, %large[%i * 7] : memref<65537xf32>
      %c = tir.load %large[%i * 7] : memref<65537xf32>
      tir.store %c, %y[%i] : memref<4xf32>
    }
  }
  func.func @main(%x: memref<4xf32>, %y: memref<4xf32>) attributes {lamina.outputs = 1 : i64} {
    %arena = tir.alloc "arena" scope "global" : memref<100xi8>
    tir.call @f(%x, %y) : memref<4xf32>, memref<4xf32>
    func.return
  }
}
