// RUN: opt-tool %s -p relay-to-te,cpu-schedule | filecheck %s
// RUN: opt-tool %s -p relay-to-te,cpu-schedule,te-to-tir,tir-lower-blocks,tir-simplify,tir-vectorize-loop | filecheck %s --check-prefix TIR
// Vectors of 17 columns are those of 32 lanes, masked: so are those of what follows the product in a loop of its own.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4",
    features = "+avx512bw,+avx512f,+avx512vl", vector_bits = 512, registers = 32, threads = 1>} {
  func.func @main(%x: tensor<2x28x2xbf16>, %y: tensor<1x2x17xbf16>) -> tensor<2x28x17xbf16> {
    %f = relay.fn (%p0: tensor<2x28x2xbf16>, %p1: tensor<1x2x17xbf16>) -> tensor<2x28x17xbf16> attributes {Primitive = 1 : i64} {
      %0 = relay.nn.batch_matmul %p0, %p1 {transpose_b = false} : (tensor<2x28x2xbf16>, tensor<1x2x17xbf16>) -> tensor<2x28x17xbf16>
      %1 = relay.sigmoid %0 : tensor<2x28x17xbf16>
      relay.return %1 : tensor<2x28x17xbf16>
    }
    %z = relay.call %f(%x, %y) : (tensor<2x28x2xbf16>, tensor<1x2x17xbf16>) -> tensor<2x28x17xbf16>
    return %z : tensor<2x28x17xbf16>
  }
}

// CHECK-LABEL: te.schedule
// CHECK:         te.reverse_compute_at "sigmoid"
// CHECK:         te.vectorize %i2_outi
// CHECK:         te.pragma %nb "masked_lanes"
// CHECK-NEXT:    te.pragma %i2_outi "masked_lanes"

// TIR-NOT: vector<17xbf16>
// TIR:     math.exp {{.*}} : vector<32xbf16>
// TIR-NOT: vector<17xbf16>
