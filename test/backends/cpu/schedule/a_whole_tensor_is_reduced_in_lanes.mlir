// RUN: opt-tool %s -p 'relay-fuse-ops,relay-to-te,cpu-schedule,te-to-tir' | filecheck %s
// Without a loop over rows the lanes' sums stand in the function itself; an axis of one element does not matter.

module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v3", features = "+avx2,+fma", vector_bits = 256, registers = 16, threads = 2>} {
  func.func @main(%x: tensor<64x1x56xf32>) -> tensor<f32> {
    %s = relay.multiply %x, %x : tensor<64x1x56xf32>
    %y = relay.sum %s : (tensor<64x1x56xf32>) -> tensor<f32>
    return %y : tensor<f32>
  }
}

// CHECK:      tir.for {{%.*}} = 0 to 112 reduction "sum.rf.rf.rf{{.*}}" {
// CHECK-NEXT:   tir.for {{%.*}} = 0 to 4 unrolled "sum.rf.rf.rf{{.*}}" {
// CHECK-NEXT:     tir.for {{%.*}} = 0 to 8 vectorized
