// RUN: not python -m lamina.backends.cpu.translate %s 2>&1 | filecheck %s
// LLVM would end the process on an intrinsic that it cannot select.

// CHECK: error: llvm.call_intrinsic: intrinsic 'llvm.x86.avx512.nothing' has no row
llvm.func @f(%x: f32) {
  %0 = llvm.call_intrinsic "llvm.x86.avx512.nothing"(%x) : (f32) -> f32
  llvm.return
}
