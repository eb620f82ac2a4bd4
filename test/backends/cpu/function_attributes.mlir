// RUN: python -m lamina.backends.cpu.translate %s | filecheck %s
// The target of the module and the attributes of the function.

// CHECK: target triple = "x86_64-unknown-linux-gnu"
// CHECK: define internal void @kernel(ptr noalias align 64 %0, i64 %1) #0 {
// CHECK: attributes #0 = { "target-cpu"="x86-64-v4" "target-features"="+avx512f" "prefer-vector-width"="512" nounwind noinline alignstack=64 "stackrealign" }
builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4",
    features = "+avx512f", vector_bits = 512, registers = 32, threads = 1>} {
  llvm.func internal @kernel(%a: !llvm.ptr {llvm.noalias, llvm.align = 64 : i64}, %n: i64)
      attributes {no_unwind, passthrough = ["noinline", ["alignstack", "64"], "stackrealign"]} {
    llvm.return
  }
}
