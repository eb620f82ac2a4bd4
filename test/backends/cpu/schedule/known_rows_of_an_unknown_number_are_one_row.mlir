// RUN: opt-tool %s --split-input-file -p cpu-schedule | filecheck %s
// RUN: opt-tool %s --split-input-file -p cpu-schedule,te-to-tir -o /dev/null
// Rows that go on in memory are one, however many such there are; an extent that is not known is part of none.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4",
    features = "+avx512f", vector_bits = 512, registers = 32, threads = 1>} {
  te.func @known(%n: index, %x: tensor<4x8xf32>) -> tensor<?x4x8xf32> {
    %y = te.compute "y" [%n, 4, 8] (%i, %j, %k) : tensor<?x4x8xf32> {
      %a = te.read %x[%j, %k] : tensor<4x8xf32>
      te.yield %a : f32
    }
    te.return %y : tensor<?x4x8xf32>
  }
}
// CHECK-LABEL: te.schedule @known
// CHECK:         %j_k = te.fuse %j, %k
// CHECK-NEXT:    te.split %j_k [-1, 16]

// -----

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4",
    features = "+avx512f", vector_bits = 512, registers = 32, threads = 1>} {
  te.func @unknown(%n: index, %x: tensor<4x8xf32>) -> tensor<4x?x8xf32> {
    %y = te.compute "y" [4, %n, 8] (%i, %j, %k) : tensor<4x?x8xf32> {
      %a = te.read %x[%i, %k] : tensor<4x8xf32>
      te.yield %a : f32
    }
    te.return %y : tensor<4x?x8xf32>
  }
}
// CHECK-LABEL: te.schedule @unknown
// CHECK-NOT:     te.fuse {{.*}}, %k
// CHECK:         te.vectorize %k
