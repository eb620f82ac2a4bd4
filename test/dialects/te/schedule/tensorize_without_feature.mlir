// RUN: opt-tool %s -p te-to-tir --verify-diagnostics
// LLVM would kill the process.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4",
    features = "+avx512f", vector_bits = 512, registers = 32, threads = 1>} {
  te.func @f(%A: tensor<8x32xui8>, %W: tensor<2x8x16x4xi8>) -> tensor<8x32xi32> {
    %C = te.compute "C" [8, 32] sum [32] (%m, %n, %k) : tensor<8x32xi32> {
      %x = te.read %A[%m, %k] : tensor<8x32xui8>
      %y = te.read %W[%n floordiv 16, %k floordiv 4, %n mod 16, %k mod 4] : tensor<2x8x16x4xi8>
      %u = arith.extui %x : i8 to i32
      %s = arith.extsi %y : i8 to i32
      %p = arith.muli %s, %u : i32
      te.yield %p : i32
    }
    te.return %C : tensor<8x32xi32>
  }
  te.schedule @f {
    %m, %n, %k = te.loops "C" [3]
    %no, %ni = te.split %n [-1, 16]
    %ko, %ki = te.split %k [-1, 4]
    te.reorder %m, %no, %ko, %ni, %ki
    // expected-error@+1 {{@cpu.vnni_u8s8s32_16x4 needs the target feature avx512vnni, which x86-64-v4 has not}}
    te.tensorize %ni @cpu.vnni_u8s8s32_16x4
  }
}
