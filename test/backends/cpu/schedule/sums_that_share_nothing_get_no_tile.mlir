// RUN: opt-tool %s -p cpu-schedule | filecheck %s
// Each element is read for one result: there is nothing to load once for many.

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
}
// CHECK:      %jo, %ji = te.split %j [-1, 8]
// CHECK-NEXT: te.reorder %jo, %k, %ji
// CHECK:      te.reverse_compute_at "C.out" at %jo [1]
