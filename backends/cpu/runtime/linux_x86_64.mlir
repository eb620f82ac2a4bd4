// What the run-time has to know of Linux on x86-64.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64", features = "", vector_bits = 128, registers = 16, threads = 1>} {

  // One poll of a loop that waits.
  llvm.func internal @pause() attributes {no_unwind} {
    llvm.call_intrinsic "llvm.x86.sse2.pause"() : () -> ()
    llvm.return
  }

  // The number of the system call futex.
  llvm.func internal @futex() -> i64 attributes {no_unwind} {
    %number = llvm.mlir.constant(202 : i64) : i64
    llvm.return %number : i64
  }
}
