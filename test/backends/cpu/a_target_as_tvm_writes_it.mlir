// RUN: lamina compile %s --emit llvm --target "llvm -device=arm_cpu -mtriple=aarch64-linux-gnu -mattr=+dotprod,+v8.2a -num-cores=3" | filecheck %s
// RUN: lamina compile %s --emit llvm --threads 1 --target "{\"kind\": \"llvm\", \"mtriple\": \"riscv64-linux-gnu\", \"mattr\": [\"-v\"]}" | filecheck %s --check-prefix=SCALAR
// RUN: not lamina compile %s --emit llvm --target "llvm -mtriple=aarch64-linux-gnu -mattr=+dotprd" 2>&1 | filecheck %s --check-prefix=NONE
// The machine of a triple, with the features and the threads that the string says; what chooses nothing is left.

// CHECK: #lamina.target<triple = "aarch64-unknown-linux-gnu", cpu = "generic", features = "+dotprod,+fp-armv8,+neon,+v8.2a", vector_bits = 128, registers = 32, threads = 3>
// CHECK: vector<4xf32>
// SCALAR: #lamina.target<triple = "riscv64-unknown-linux-gnu", cpu = "generic-rv64", features = "+a,+c,+d,+f,+m,+zihintpause", vector_bits = 32, registers = 32, threads = 1>
// SCALAR-NOT: vector<
// NONE: error: no feature 'dotprd' of aarch64; did you mean 'dotprod'?
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y = relay.nn.relu %x : tensor<8xf32>
  return %y : tensor<8xf32>
}
