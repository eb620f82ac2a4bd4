// RUN: opt-tool %s -p cpu-sketch --verify-locations | filecheck %s
// What shares nothing has no decisions to make: it is what it is by default.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v3", features = "+avx2,+fma", vector_bits = 256, registers = 16, threads = 1>} {
te.func @f(%A: tensor<24x50xf32>) -> tensor<50xf32> {
  %c = te.compute "C" [50] sum [24] (%j, %k) : tensor<50xf32> {
    %a = te.read %A[%k, %j] : tensor<24x50xf32>
    %b = te.read %A[%k, %j] : tensor<24x50xf32>
    %p = arith.mulf %a, %b : f32
    te.yield %p : f32
  }
  te.return %c : tensor<50xf32>
}
te.func @g(%A: tensor<24x50xf32>) -> tensor<50xf32> {
  %c = te.compute "C" [50] sum [24] (%j, %k) : tensor<50xf32> {
    %a = te.read %A[%k, %j] : tensor<24x50xf32>
    %b = te.read %A[%k, %j] : tensor<24x50xf32>
    %p = arith.mulf %a, %b : f32
    te.yield %p : f32
  }
  te.return %c : tensor<50xf32>
}
te.schedule @g {
  %j, %k = te.loops "C" [2]
  te.reorder %k, %j
}
}
// CHECK:      te.schedule @f {
// CHECK:        %jo, %ji = te.split %j [-1, 8]
// CHECK:      te.schedule @g {
// CHECK-NEXT:   %j, %k = te.loops "C" [2]
// CHECK-NEXT:   te.reorder %k, %j
// CHECK-NEXT: }
