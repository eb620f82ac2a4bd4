// RUN: opt-tool %s -p cpu-schedule | filecheck %s

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4",
    features = "+avx512f", vector_bits = 512, registers = 32, threads = 1>} {
  te.func @relu(%X: tensor<64x32xf32>) -> tensor<64x32xf32> {
    %y = te.compute "relu" [64, 32] (%i, %j) : tensor<64x32xf32> {
      %x = te.read %X[%i, %j] : tensor<64x32xf32>
      %zero = arith.constant 0.0 : f32
      %m = arith.maximumf %x, %zero : f32
      te.yield %m : f32
    }
    te.return %y : tensor<64x32xf32>
  }
}

// CHECK-LABEL: te.schedule @relu {
// CHECK-NEXT:   %i, %j = te.loops "relu" [2]
// CHECK-NEXT:   %jo, %ji = te.split %j [-1, 16]
// CHECK-NEXT:   te.reorder %i, %jo, %ji
// CHECK-NEXT:   te.parallel %i
// CHECK-NEXT:   te.vectorize %ji
// CHECK-NEXT: }
