// RUN: opt-tool %s -p cpu-pack-weights | filecheck %s
// Four vectors when there is one row to stream the weights for; where rows share them, those of the register tile: 8 rows
// of 3 vectors, which 40 columns fill as well as 48, 14 rows of 2.

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
  func.func @more_rows(%x: tensor<14x64xf32>) -> tensor<14x64xf32> {
    %w = relay.constant #relay.param<"v", "0123456789abcdef"> : tensor<64x64xf32>
    %y = relay.nn.dense %x, %w : (tensor<14x64xf32>, tensor<64x64xf32>) -> tensor<14x64xf32>
    return %y : tensor<14x64xf32>
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
// CHECK-NEXT:   %0 = relay.layout_transform %w {dst_layout = "NK48n", src_layout = "NK"} : (tensor<40x64xf32>) -> tensor<1x64x48xf32>
// CHECK-NEXT:   %y = relay.nn.contrib_dense_pack %x, %0 {units = 40, weight_layout = "NK48n"} : (tensor<8x64xf32>, tensor<1x64x48xf32>) -> tensor<8x40xf32>
// CHECK-NEXT:   func.return %y : tensor<8x40xf32>
// CHECK-NEXT: }

// CHECK-LABEL: func.func @more_rows(
// CHECK:        relay.nn.contrib_dense_pack %x, %0 {units = 64, weight_layout = "NK32n"}
