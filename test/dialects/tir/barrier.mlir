// RUN: opt-tool %s --verify-roundtrip | filecheck %s
// RUN: opt-tool %s -p nvptx-tir-to-llvm | filecheck %s --check-prefix NVPTX
// Threads of a block reverse eight elements through shared memory: they wait for each other between.

tir.func @f(%x: memref<8xf32>, %y: memref<8xf32>) attributes {device} {
  %s = tir.alloc "s" scope "shared" : memref<8xf32>
  tir.for %t = 0 to 8 thread "threadIdx.x" "t" {
    %v = tir.load %x[%t] : memref<8xf32>
    tir.store %v, %s[%t] : memref<8xf32>
    tir.barrier "shared"
    %w = tir.load %s[%t * -1 + 7] : memref<8xf32>
    tir.store %w, %y[%t] : memref<8xf32>
  }
}

// CHECK: tir.barrier "shared"
// NVPTX: llvm.mlir.global internal @f.s.0() {addr_space = 3 : i32, alignment = 128 : i64} : !llvm.array<8 x f32>
// NVPTX: llvm.store %v, %{{[0-9]+}} {alignment = 4 : i64} : f32, !llvm.ptr
// NVPTX: llvm.call_intrinsic "llvm.nvvm.barrier.cta.sync.aligned.all"(%{{[0-9]+}}) : (i32) -> ()
// NVPTX: %w = llvm.load %{{[0-9]+}} {alignment = 4 : i64} : !llvm.ptr -> f32
