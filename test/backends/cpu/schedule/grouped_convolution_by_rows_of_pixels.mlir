// RUN: opt-tool %s -p relay-to-te,cpu-schedule | filecheck %s
// RUN: opt-tool %s -p relay-to-te,cpu-schedule,te-to-tir,tir-lower-blocks,tir-simplify,tir-vectorize-loop | filecheck %s --check-prefix LANES
// Two channels by seven rows of seven pixels, each row eight lanes under a mask.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4",
    features = "+avx512f,+avx512vl", vector_bits = 512, registers = 32, threads = 1>} {
  func.func @main(%x: tensor<1x544x7x7xf32>, %w: tensor<544x136x1x1xf32>) -> tensor<1x544x7x7xf32> {
    %f = relay.fn (%p0: tensor<1x544x7x7xf32>, %p1: tensor<544x136x1x1xf32>) -> tensor<1x544x7x7xf32> attributes {Primitive = 1 : i64} {
      %0 = relay.nn.conv2d %p0, %p1 {groups = 4} : (tensor<1x544x7x7xf32>, tensor<544x136x1x1xf32>) -> tensor<1x544x7x7xf32>
      %1 = relay.nn.relu %0 : tensor<1x544x7x7xf32>
      relay.return %1 : tensor<1x544x7x7xf32>
    }
    %y = relay.call %f(%x, %w) : (tensor<1x544x7x7xf32>, tensor<544x136x1x1xf32>) -> tensor<1x544x7x7xf32>
    return %y : tensor<1x544x7x7xf32>
  }
}

// CHECK-LABEL: te.schedule
// CHECK-NEXT:   %n, %k, %y, %x, %c, %r, %s = te.loops "conv" [7]
// CHECK-NEXT:   %ko, %ka, %kb = te.split %k [-1, 68, 2]
// CHECK-NEXT:   %yo, %yi = te.split %y [-1, 7]
// CHECK-NEXT:   %xo, %xi = te.split %x [-1, 8]
// CHECK-NEXT:   te.reorder %n, %ko, %ka, %yo, %xo, %c, %r, %s, %kb, %yi, %xi
// CHECK-NEXT:   %i0_out, %i1_out, %i2_out, %i3_out = te.reverse_compute_at "relu" at %xo [4]
// CHECK:        te.vectorize %xi
// CHECK-NEXT:   te.pragma %xi "masked_lanes" = 1
// CHECK:        te.vectorize %i3_outi
// CHECK-NEXT:   te.pragma %i3_outi "masked_lanes" = 1

// LANES:  tir.load %p0[{{.*}}lane] where [lane * -1 + 6 >= 0] : memref<1x544x7x7xf32>, vector<8xf32>
// LANES:  tir.store {{.*}}, %relu_out[{{.*}}lane] where [lane * -1 + 6 >= 0] : memref<1x544x7x7xf32>, vector<8xf32>
