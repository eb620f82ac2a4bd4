// RUN: opt-tool %s | opt-tool | filecheck %s
// Functions, their attributes, and calls.

// CHECK: llvm.func @syscall(i64, ...) -> i64
llvm.func @syscall(i64, ...) -> i64

// CHECK: llvm.func internal @kernel(%a: !llvm.ptr {llvm.noalias, llvm.align = 64 : i64}, %n: i64) attributes {no_unwind, passthrough = ["noinline", ["alignstack", "64"], "stackrealign"]}
llvm.func internal @kernel(%a: !llvm.ptr {llvm.noalias, llvm.align = 64 : i64}, %n: i64)
    attributes {no_unwind, passthrough = ["noinline", ["alignstack", "64"], "stackrealign"]} {
  llvm.return
}

// CHECK-LABEL: llvm.func @caller
llvm.func @caller(%p: !llvm.ptr, %m: i64) -> i64 {
  // CHECK: llvm.call @kernel(%p, %m) : (!llvm.ptr, i64) -> ()
  llvm.call @kernel(%p, %m) : (!llvm.ptr, i64) -> ()
  // CHECK: %f = llvm.mlir.addressof @kernel : !llvm.ptr
  %f = llvm.mlir.addressof @kernel : !llvm.ptr
  // CHECK: llvm.call %f(%p, %m) : !llvm.ptr, (!llvm.ptr, i64) -> ()
  llvm.call %f(%p, %m) : !llvm.ptr, (!llvm.ptr, i64) -> ()
  // CHECK: %r = llvm.call @syscall(%m, %p) vararg(!llvm.func<i64 (i64, ...)>) : (i64, !llvm.ptr) -> i64
  %r = llvm.call @syscall(%m, %p) vararg(!llvm.func<i64 (i64, ...)>) : (i64, !llvm.ptr) -> i64
  // CHECK: llvm.call_intrinsic "llvm.x86.sse2.pause"() : () -> ()
  llvm.call_intrinsic "llvm.x86.sse2.pause"() : () -> ()
  llvm.return %r : i64
}
