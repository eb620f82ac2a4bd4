// RUN: opt-tool %s -p nvptx-tir-to-llvm | filecheck %s
// A buffer that is read and written is reached by this thread alone where none waits; behind a barrier, by others too.

tir.func @alone_kernel0(%x: memref<64xf32>, %y: memref<64xf32>) attributes {outputs = 1 : i64, device} {
  tir.for %t = 0 to 64 thread "threadIdx.x" "t" {
    %v = tir.load %x[%t] : memref<64xf32>
    tir.store %v, %y[%t] : memref<64xf32>
    %w = tir.load %y[%t] : memref<64xf32>
    %s = arith.addf %v, %w : f32
    tir.store %s, %y[%t] : memref<64xf32>
  }
}
tir.func @together_kernel0(%x: memref<64xf32>, %y: memref<64xf32>) attributes {outputs = 1 : i64, device} {
  tir.for %t = 0 to 64 thread "threadIdx.x" "t" {
    %v = tir.load %x[%t] : memref<64xf32>
    tir.store %v, %y[%t] : memref<64xf32>
    tir.barrier "global"
    %w = tir.load %y[%t * -1 + 63] : memref<64xf32>
    tir.barrier "global"
    tir.store %w, %y[%t] : memref<64xf32>
  }
}

// CHECK:     llvm.func @alone_kernel0(%x: !llvm.ptr {llvm.noalias, llvm.readonly}, %y: !llvm.ptr {llvm.noalias})
// CHECK:     llvm.func @together_kernel0({{%[a-z_0-9]+}}: !llvm.ptr {llvm.noalias, llvm.readonly}, {{%[a-z_0-9]+}}: !llvm.ptr)
