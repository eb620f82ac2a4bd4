// RUN: opt-tool %s -p cpu-pack-weights | filecheck %s
// Four vectors when there is one row to stream the weights for, two where rows share them.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4",
    features = "+avx512f", vector_bits = 512, registers = 32, threads = 1>} {
  func.func @one_row(%x: tensor<1x64xf32>) -> tensor<1x40xf32> {
    %w = relay.constant #relay.param<"w", "0123456789abcdef"> : tensor<40x64xf32>
    %y = relay.nn.dense %x, %w : (tensor<1x64xf32>, tensor<40x64xf32>) -> tensor<1x40xf32>
    return %y : tensor<1x40xf32>
  }
  func.func @rows(%x: tensor<8x64xf32>) -> tensor<8x40xf32> {
    %w = relay.constant #relay.param<"w", "0123456789abcdef"> : tensor<40x64xf32>
    %y = relay.nn.dense %x, %w : (tensor<8x64xf32>, tensor<40x64xf32>) -> tensor<8x40xf32>
    return %y : tensor<8x40xf32>
  }
}

// CHECK-LABEL: func.func @one_row(%x: tensor<1x64xf32>) -> tensor<1x40xf32> {
// CHECK-NEXT:   %w = relay.constant #relay.param<"w", "0123456789abcdef"> : tensor<40x64xf32>
// CHECK-NEXT:   %0 = relay.layout_transform %w {dst_layout = "NK64n", src_layout = "NK"} : (tensor<40x64xf32>) -> tensor<1x64x64xf32>
// CHECK-NEXT:   %y = relay.nn.contrib_dense_pack %x, %0 {units = 40, weight_layout = "NK64n"} : (tensor<1x64xf32>, tensor<1x64x64xf32>) -> tensor<1x40xf32>
// CHECK-NEXT:   func.return %y : tensor<1x40xf32>
// CHECK-NEXT: }

// CHECK-LABEL: func.func @rows(%x: tensor<8x64xf32>) -> tensor<8x40xf32> {
// CHECK-NEXT:   %w = relay.constant #relay.param<"w", "0123456789abcdef"> : tensor<40x64xf32>
// CHECK-NEXT:   %0 = relay.layout_transform %w {dst_layout = "NK32n", src_layout = "NK"} : (tensor<40x64xf32>) -> tensor<2x64x32xf32>
// CHECK-NEXT:   %y = relay.nn.contrib_dense_pack %x, %0 {units = 40, weight_layout = "NK32n"} : (tensor<8x64xf32>, tensor<2x64x32xf32>) -> tensor<8x40xf32>
// CHECK-NEXT:   func.return %y : tensor<8x40xf32>
// CHECK-NEXT: }
