// RUN: opt-tool %s -p cpu-schedule | filecheck %s

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4",
    features = "+avx512f", vector_bits = 512, registers = 32, threads = 1>} {
  te.func @f(%X: tensor<64x16xf32>) -> tensor<64x16xf32> {
    %a = te.compute "a" [64, 16] (%i, %j) : tensor<64x16xf32> {
      %x = te.read %X[%i, %j] : tensor<64x16xf32>
      %n = arith.negf %x : f32
      te.yield %n : f32
    }
    %b = te.compute "b" [64, 16] (%i, %j) : tensor<64x16xf32> {
      %y = te.read %a[%i, %j] : tensor<64x16xf32>
      %s = arith.addf %y, %y : f32
      te.yield %s : f32
    }
    te.return %b : tensor<64x16xf32>
  }
}

// CHECK-LABEL: te.schedule @f {
// CHECK-NEXT:   te.compute_inline "a"
// CHECK-NEXT:   %i, %j = te.loops "b" [2]
// CHECK-NEXT:   te.reorder %i, %j
// CHECK-NEXT:   te.parallel %i
// CHECK-NEXT:   te.vectorize %j
// CHECK-NEXT: }
