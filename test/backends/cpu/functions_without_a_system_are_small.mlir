// RUN: python -m lamina.backends.cpu.translate %s | filecheck %s
// Code lies in little memory where there is no system.

// CHECK: target triple = "thumbv7em-unknown-none-eabihf"
// CHECK: attributes #0 = { "target-cpu"="cortex-m4" "target-features"="+vfp4d16sp" "prefer-vector-width"="32" minsize optsize nounwind }
builtin.module attributes {lamina.target = #lamina.target<triple = "thumbv7em-unknown-none-eabihf", cpu = "cortex-m4",
    features = "+vfp4d16sp", vector_bits = 32, registers = 16, threads = 1>} {
  llvm.func internal @kernel(%a: !llvm.ptr, %n: i64) attributes {no_unwind} {
    llvm.return
  }
}
