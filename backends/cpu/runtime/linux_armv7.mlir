// What the run-time has to know of Linux on Arm of 32 bits, version 7.

builtin.module attributes {lamina.target = #lamina.target<triple = "armv7-unknown-linux-gnueabihf", cpu = "generic", features = "+neon", vector_bits = 128, registers = 16, threads = 1>} {

  llvm.func @syscall(i32, ...) -> i32
  llvm.func @pthread_join(i32, !llvm.ptr) -> i32
  llvm.func @pthread_attr_setstacksize(!llvm.ptr, i32) -> i32

  // One poll of a loop that waits.
  llvm.func internal @pause() attributes {no_unwind} {
    %yield = llvm.mlir.constant(1 : i32) : i32
    llvm.call_intrinsic "llvm.arm.hint"(%yield) : (i32) -> ()
    llvm.return
  }

  // Sleep while the number at an address is this one (FUTEX_WAIT | FUTEX_PRIVATE_FLAG).
  llvm.func internal @futex_wait(%address: !llvm.ptr, %value: i32) attributes {no_unwind} {
    %futex = llvm.mlir.constant(240 : i32) : i32
    %wait = llvm.mlir.constant(128 : i32) : i32
    %zero = llvm.mlir.constant(0 : i32) : i32
    %null = llvm.mlir.zero : !llvm.ptr
    %ignored = llvm.call @syscall(%futex, %address, %wait, %value, %null, %null, %zero) vararg(!llvm.func<i32 (i32, ...)>) : (i32, !llvm.ptr, i32, i32, !llvm.ptr, !llvm.ptr, i32) -> i32
    llvm.return
  }

  // Wake all who sleep at an address (FUTEX_WAKE | FUTEX_PRIVATE_FLAG).
  llvm.func internal @futex_wake(%address: !llvm.ptr) attributes {no_unwind} {
    %futex = llvm.mlir.constant(240 : i32) : i32
    %wake = llvm.mlir.constant(129 : i32) : i32
    %all = llvm.mlir.constant(2147483647 : i32) : i32
    %zero = llvm.mlir.constant(0 : i32) : i32
    %null = llvm.mlir.zero : !llvm.ptr
    %ignored = llvm.call @syscall(%futex, %address, %wake, %all, %null, %null, %zero) vararg(!llvm.func<i32 (i32, ...)>) : (i32, !llvm.ptr, i32, i32, !llvm.ptr, !llvm.ptr, i32) -> i32
    llvm.return
  }

  // Wait for the end of the thread whose pthread_t is at an address.
  llvm.func internal @join(%at: !llvm.ptr) attributes {no_unwind} {
    %null = llvm.mlir.zero : !llvm.ptr
    %thread = llvm.load %at {alignment = 8 : i64} : !llvm.ptr -> i32
    %ignored = llvm.call @pthread_join(%thread, %null) : (i32, !llvm.ptr) -> i32
    llvm.return
  }

  // Let threads of these attributes have 8 MB of stack.
  llvm.func internal @set_stack(%attributes: !llvm.ptr) attributes {no_unwind} {
    %bytes = llvm.mlir.constant(8388608 : i32) : i32
    %ignored = llvm.call @pthread_attr_setstacksize(%attributes, %bytes) : (!llvm.ptr, i32) -> i32
    llvm.return
  }
}
