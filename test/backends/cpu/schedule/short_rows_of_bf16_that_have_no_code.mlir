// RUN: opt-tool %s -p cpu-schedule | filecheck %s
// A row of 17 fits one vector of 32 lanes, but LLVM has no code for 17 lanes of bf16: the rows are taken by sixteens.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4",
    features = "+avx512f", vector_bits = 512, registers = 32, threads = 1>} {
  te.func @odd(%X: tensor<3x19xbf16>) -> tensor<3x17xbf16> {
    %y = te.compute "odd" [3, 17] (%i, %j) : tensor<3x17xbf16> {
      %x = te.read %X[%i, %j] : tensor<3x19xbf16>
      te.yield %x : bf16
    }
    te.return %y : tensor<3x17xbf16>
  }
  te.func @even(%X: tensor<3x19xbf16>) -> tensor<3x18xbf16> {
    %y = te.compute "even" [3, 18] (%i, %j) : tensor<3x18xbf16> {
      %x = te.read %X[%i, %j] : tensor<3x19xbf16>
      te.yield %x : bf16
    }
    te.return %y : tensor<3x18xbf16>
  }
}

// CHECK-LABEL: te.schedule @odd {
// CHECK:         te.split %j [-1, 16]
// CHECK-LABEL: te.schedule @even {
// CHECK-NOT:     te.split
// CHECK:         te.vectorize %j
