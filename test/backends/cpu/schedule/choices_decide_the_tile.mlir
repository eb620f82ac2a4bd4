// RUN: opt-tool %s -p cpu-schedule | filecheck %s
// The module chooses among the tiles that are candidates; one that is none is refused.

// RUN: sed 's/"7x2"/"5x5"/' %s | not opt-tool -p cpu-schedule 2>&1 | filecheck %s --check-prefix NONE
// NONE: error: {{.*}}'tile nn.contrib_conv2d_NCHWc 1x2x14x14x16xf32 over 2x3x3x16 of 1x2x16x16x16xf32' is one of 14x2, {{.*}}, not 5x5; choose anew

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4",
    features = "+avx512f", vector_bits = 512, registers = 32, threads = 1>,
    lamina.choices = {"tile nn.contrib_conv2d_NCHWc 1x2x14x14x16xf32 over 2x3x3x16 of 1x2x16x16x16xf32" = "7x2"}} {
  te.func @conv(%X: tensor<1x2x16x16x16xf32>, %W: tensor<2x2x3x3x16x16xf32>, %B: tensor<32xf32>)
      -> tensor<1x2x14x14x16xf32> {
    %acc = te.compute "conv" [1, 2, 14, 14, 16] sum [2, 3, 3, 16] (%n, %ko, %y, %x, %kv, %c, %r, %s, %ci)
        : tensor<1x2x14x14x16xf32> attributes {tag = "nn.contrib_conv2d_NCHWc"} {
      %d = te.read %X[%n, %c, %y + %r, %x + %s, %ci] : tensor<1x2x16x16x16xf32>
      %w = te.read %W[%ko, %c, %r, %s, %ci, %kv] : tensor<2x2x3x3x16x16xf32>
      %p = arith.mulf %d, %w : f32
      te.yield %p : f32
    }
    %out = te.compute "out" [1, 2, 14, 14, 16] (%n, %ko, %y, %x, %kv) : tensor<1x2x14x14x16xf32> {
      %a = te.read %acc[%n, %ko, %y, %x, %kv] : tensor<1x2x14x14x16xf32>
      %b = te.read %B[%ko * 16 + %kv] : tensor<32xf32>
      %s = arith.addf %a, %b : f32
      te.yield %s : f32
    }
    te.return %out : tensor<1x2x14x14x16xf32>
  }
}

// CHECK-LABEL: te.schedule @conv {
// CHECK:         te.split %ko [-1, 2]
// CHECK-NEXT:    te.split %x [-1, 7]
