// RUN: opt-tool %s -p cpu-schedule | filecheck %s
// The vectors of a step are loaded ahead of its broadcasts where they are those of an argument. What the kernel has just
// computed is read from its buffer.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v3",
    features = "+avx2,+fma", vector_bits = 256, registers = 16, threads = 1>} {
  te.func @given(%A: tensor<30x24xf32>, %B: tensor<24x48xf32>) -> tensor<30x48xf32> {
    %c = te.compute "C" [30, 48] sum [24] (%i, %j, %k) : tensor<30x48xf32> attributes {tag = "nn.matmul"} {
      %a = te.read %A[%i, %k] : tensor<30x24xf32>
      %b = te.read %B[%k, %j] : tensor<24x48xf32>
      %p = arith.mulf %a, %b : f32
      te.yield %p : f32
    }
    te.return %c : tensor<30x48xf32>
  }
  te.func @computed(%A: tensor<30x24xf32>, %B: tensor<24x48xf32>) -> tensor<30x48xf32> {
    %e = te.compute "E" [24, 48] (%k, %j) : tensor<24x48xf32> {
      %b = te.read %B[%k, %j] : tensor<24x48xf32>
      %x = math.exp %b : f32
      te.yield %x : f32
    }
    %c = te.compute "C" [30, 48] sum [24] (%i, %j, %k) : tensor<30x48xf32> attributes {tag = "nn.matmul"} {
      %a = te.read %A[%i, %k] : tensor<30x24xf32>
      %b = te.read %e[%k, %j] : tensor<24x48xf32>
      %p = arith.mulf %a, %b : f32
      te.yield %p : f32
    }
    te.return %c : tensor<30x48xf32>
  }
}

// CHECK-LABEL: te.schedule @given {
// CHECK:         te.cache_read "B" in "C" at
// CHECK-LABEL: te.schedule @computed {
// CHECK:         te.split %i{{.*}} [-1, 6]
// CHECK-NOT:     te.cache_read
