// What the run-time has to know of Linux on AArch64.

builtin.module attributes {lamina.target = #lamina.target<triple = "aarch64-unknown-linux-gnu", cpu = "generic", features = "+fp-armv8,+neon", vector_bits = 128, registers = 32, threads = 1>} {

  // One poll of a loop that waits: yield.
  llvm.func internal @pause() attributes {no_unwind} {
    %yield = llvm.mlir.constant(1 : i32) : i32
    llvm.call_intrinsic "llvm.aarch64.hint"(%yield) : (i32) -> ()
    llvm.return
  }

  // The number of the system call futex.
  llvm.func internal @futex() -> i64 attributes {no_unwind} {
    %number = llvm.mlir.constant(98 : i64) : i64
    llvm.return %number : i64
  }
}
