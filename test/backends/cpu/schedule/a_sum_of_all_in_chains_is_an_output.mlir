// RUN: opt-tool %s -p 'relay-fuse-ops,relay-to-te,cpu-schedule,te-to-tir' | filecheck %s
// What reads a row that all share is no line of memory, so the sums stand side by side as chains; no loop over rows
// takes the result out of the registers, and nothing else reads it: a copy does.

module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v3", features = "+avx2,+fma", vector_bits = 256, registers = 16, threads = 2>} {
  func.func @main(%x: tensor<46x23x9xf32>, %b: tensor<9xf32>) -> tensor<f32> {
    %s = relay.add %x, %b : (tensor<46x23x9xf32>, tensor<9xf32>) -> tensor<46x23x9xf32>
    %y = relay.sum %s : (tensor<46x23x9xf32>) -> tensor<f32>
    return %y : tensor<f32>
  }
}

// CHECK:      tir.alloc "sum.register" scope "register"
// CHECK:      tir.store %{{.*}}, %sum_out[] : memref<f32>
