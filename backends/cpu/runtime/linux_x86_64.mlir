// What the run-time has to know of Linux on x86-64.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64", features = "", vector_bits = 128, registers = 16, threads = 1>} {

  llvm.func @syscall(i64, ...) -> i64
  llvm.func @pthread_join(i64, !llvm.ptr) -> i32
  llvm.func @pthread_attr_setstacksize(!llvm.ptr, i64) -> i32

  // One poll of a loop that waits.
  llvm.func internal @pause() attributes {no_unwind} {
    llvm.call_intrinsic "llvm.x86.sse2.pause"() : () -> ()
    llvm.return
  }

  // Sleep while the number at an address is this one (FUTEX_WAIT | FUTEX_PRIVATE_FLAG).
  llvm.func internal @futex_wait(%address: !llvm.ptr, %value: i32) attributes {no_unwind} {
    %futex = llvm.mlir.constant(202 : i64) : i64
    %wait = llvm.mlir.constant(128 : i64) : i64
    %zero = llvm.mlir.constant(0 : i64) : i64
    %null = llvm.mlir.zero : !llvm.ptr
    %ignored = llvm.call @syscall(%futex, %address, %wait, %value, %null, %null, %zero) vararg(!llvm.func<i64 (i64, ...)>) : (i64, !llvm.ptr, i64, i32, !llvm.ptr, !llvm.ptr, i64) -> i64
    llvm.return
  }

  // Wake all who sleep at an address (FUTEX_WAKE | FUTEX_PRIVATE_FLAG).
  llvm.func internal @futex_wake(%address: !llvm.ptr) attributes {no_unwind} {
    %futex = llvm.mlir.constant(202 : i64) : i64
    %wake = llvm.mlir.constant(129 : i64) : i64
    %all = llvm.mlir.constant(2147483647 : i32) : i32
    %zero = llvm.mlir.constant(0 : i64) : i64
    %null = llvm.mlir.zero : !llvm.ptr
    %ignored = llvm.call @syscall(%futex, %address, %wake, %all, %null, %null, %zero) vararg(!llvm.func<i64 (i64, ...)>) : (i64, !llvm.ptr, i64, i32, !llvm.ptr, !llvm.ptr, i64) -> i64
    llvm.return
  }

  // Wait for the end of the thread whose pthread_t is at an address.
  llvm.func internal @join(%at: !llvm.ptr) attributes {no_unwind} {
    %null = llvm.mlir.zero : !llvm.ptr
    %thread = llvm.load %at {alignment = 8 : i64} : !llvm.ptr -> i64
    %ignored = llvm.call @pthread_join(%thread, %null) : (i64, !llvm.ptr) -> i32
    llvm.return
  }

  // Let threads of these attributes have 8 MB of stack.
  llvm.func internal @set_stack(%attributes: !llvm.ptr) attributes {no_unwind} {
    %bytes = llvm.mlir.constant(8388608 : i64) : i64
    %ignored = llvm.call @pthread_attr_setstacksize(%attributes, %bytes) : (!llvm.ptr, i64) -> i32
    llvm.return
  }
}
