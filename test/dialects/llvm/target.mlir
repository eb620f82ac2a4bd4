// RUN: opt-tool %s | opt-tool | filecheck %s
// The target of a module.

// CHECK: #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4", features = "+avx2,+avx512f", vector_bits = 512, registers = 32, threads = 2>
builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4",
    features = "+avx2,+avx512f", vector_bits = 512, registers = 32, threads = 2>} {
}
