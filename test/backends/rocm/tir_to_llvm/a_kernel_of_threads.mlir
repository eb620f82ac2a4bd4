// RUN: opt-tool %s -p rocm-tir-to-llvm | filecheck %s
// Loops of threads are registers of the machine. Each pointer says its address space: buffers are global, shared memory
// is the group's, a thread's own is private. A barrier stands between fences.

tir.func @f_kernel0(%x: memref<64xf32>, %y: memref<64xf32>) attributes {outputs = 1 : i64, device} {
  tir.for %b = 0 to 1 thread "blockIdx.x" "b" {
    %s = tir.alloc "s" scope "shared" : memref<64xf32>
    tir.for %t = 0 to 64 thread "threadIdx.x" "t" {
      %own = tir.alloc "own" scope "local" : memref<2xf32>
      %v = tir.load %x[%t] : memref<64xf32>
      tir.store %v, %s[%t] : memref<64xf32>
      tir.barrier "shared"
      %w = tir.load %s[%t * -1 + 63] : memref<64xf32>
      tir.store %w, %own[1] : memref<2xf32>
      %z = tir.load %own[1] : memref<2xf32>
      tir.store %z, %y[%t] : memref<64xf32>
    }
  }
}
tir.func @f(%x: memref<64xf32>, %y: memref<64xf32>) attributes {outputs = 1 : i64} {
  tir.launch @f_kernel0 grid [1] block [64] (%x, %y) : memref<64xf32>, memref<64xf32>
}

// CHECK:      llvm.mlir.global internal @f_kernel0.s.0() {addr_space = 3 : i32, alignment = 128 : i64} : !llvm.array<64 x f32> {
// CHECK:      llvm.func @f_kernel0(%x: !llvm.ptr<1> {llvm.noalias, llvm.readonly}, %y: !llvm.ptr<1> {llvm.noalias}) attributes {rocdl.kernel, passthrough = ["nounwind", ["amdgpu-flat-work-group-size", "64,64"]]} {
// CHECK-NEXT:   %1 = llvm.call_intrinsic "llvm.amdgcn.workgroup.id.x"() : () -> i32
// CHECK-NEXT:   %b = llvm.zext %1 : i32 to i64
// CHECK-NEXT:   %2 = llvm.mlir.addressof @f_kernel0.s.0 : !llvm.ptr<3>
// CHECK-NEXT:   %3 = llvm.call_intrinsic "llvm.amdgcn.workitem.id.x"() : () -> i32
// CHECK-NEXT:   %t = llvm.zext %3 : i32 to i64
// CHECK:        llvm.alloca {{.*}} -> !llvm.ptr<5>
// CHECK:        %v = llvm.load {{.*}} : !llvm.ptr<1> -> f32
// CHECK-NEXT:   llvm.store %v, {{.*}} : f32, !llvm.ptr<3>
// CHECK-NEXT:   llvm.fence syncscope("workgroup") release
// CHECK-NEXT:   llvm.call_intrinsic "llvm.amdgcn.s.barrier"() : () -> ()
// CHECK-NEXT:   llvm.fence syncscope("workgroup") acquire
// CHECK:        %w = llvm.load {{.*}} : !llvm.ptr<3> -> f32
// CHECK:        llvm.store {{.*}} : f32, !llvm.ptr<1>
// CHECK-NEXT:   llvm.return
// CHECK-LABEL: tir.func @f(
// CHECK-NEXT:   tir.launch @f_kernel0 grid [1] block [64]
