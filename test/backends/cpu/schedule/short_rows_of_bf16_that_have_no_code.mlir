// RUN: opt-tool %s -p cpu-schedule | filecheck %s
// A row of 17 fits one vector of 32 lanes, but LLVM has no code for 17 lanes of bf16: the rows are taken by sixteens.
// So are rows whose numbers are bf16 only between stages that become one.

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
  te.func @between(%X: tensor<3x11xi16>) -> tensor<3x9xf32> {
    %b = te.compute "narrow" [3, 9] (%i, %j) : tensor<3x9xbf16> {
      %x = te.read %X[%i, %j] : tensor<3x11xi16>
      %n = arith.sitofp %x : i16 to bf16
      te.yield %n : bf16
    }
    %y = te.compute "between" [3, 9] (%i, %j) : tensor<3x9xf32> {
      %n = te.read %b[%i, %j] : tensor<3x9xbf16>
      %w = arith.extf %n : bf16 to f32
      te.yield %w : f32
    }
    %z = te.compute "last" [3, 9] (%i, %j) : tensor<3x9xf32> {
      %w = te.read %y[%i, %j] : tensor<3x9xf32>
      %m = arith.negf %w : f32
      te.yield %m : f32
    }
    te.return %z : tensor<3x9xf32>
  }
}

// CHECK-LABEL: te.schedule @odd {
// CHECK:         te.split %j [-1, 16]
// CHECK-LABEL: te.schedule @even {
// CHECK-NOT:     te.split
// CHECK:         te.vectorize %j
// CHECK-LABEL: te.schedule @between {
// CHECK:         te.split %j [-1, 8]
