// RUN: opt-tool %s -p relay-to-te,cpu-schedule | filecheck %s
// RUN: sed 's/threads = 2/threads = 1/' %s | opt-tool -p relay-to-te,cpu-schedule | filecheck %s --check-prefix=ONE
// RUN: sed 's/threads = 2/threads = 3/' %s | opt-tool -p relay-to-te,cpu-schedule | filecheck %s --check-prefix=THREE
// Two threads, and four blocks of units: in every step each thread has the same two, whose weights stay in its caches.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4",
    features = "+avx512f", vector_bits = 512, registers = 32, threads = 2>} {
  func.func @main(%x: tensor<3x2x512xf32>, %p: tensor<4x128x4x32xf32>, %h: tensor<2x128xf32>) -> tensor<3x2x128xf32> {
    %f = relay.fn (%p0: tensor<3x2x512xf32>, %p1: tensor<4x128x4x32xf32>, %p2: tensor<2x128xf32>) -> tensor<3x2x128xf32> attributes {Primitive = 1 : i64} {
      %y, %a, %b = relay.nn.lstm %p0, %p1, %p2, %p2 {weight_layout = "NKG32n"} : (tensor<3x2x512xf32>, tensor<4x128x4x32xf32>, tensor<2x128xf32>, tensor<2x128xf32>) -> (tensor<3x2x128xf32>, tensor<2x128xf32>, tensor<2x128xf32>)
      relay.return %y : tensor<3x2x128xf32>
    }
    %0 = relay.call %f(%x, %p, %h) : (tensor<3x2x512xf32>, tensor<4x128x4x32xf32>, tensor<2x128xf32>) -> tensor<3x2x128xf32>
    func.return %0 : tensor<3x2x128xf32>
  }
}

// CHECK-LABEL: te.schedule @fused_nn_lstm {
// CHECK:         %t_1, %b_3, %j_3 = te.loops "state" [3]
// CHECK-NEXT:    %jo_3, %ja, %jb = te.split %j_3 [-1, 2, 16]
// CHECK-NEXT:    %bo, %bi = te.split %b_3 [-1, 2]
// CHECK-NEXT:    te.reorder %jo_3, %bo, %bi, %ja, %jb
// CHECK-NEXT:    %joo, %joi = te.split %jo_3 [2, -1]
// CHECK-NEXT:    te.parallel %joo
// CHECK-NEXT:    te.alternate %joi
// What the other thread has written in the step before comes all at once.
// CHECK:         te.prefetch "state.v0" at %joo offset 0

// One thread walks all blocks, the other way in every second step; three share the loop as it is.
// ONE:           te.reorder %jo_3, %bo, %bi, %ja, %jb
// ONE-NEXT:      te.alternate %jo_3
// ONE-NOT:       te.prefetch
// THREE:         te.reorder %jo_3, %bo, %bi, %ja, %jb
// THREE-NEXT:    te.parallel %jo_3
// THREE:         te.prefetch "state.v0" at %jo_3 offset 0
