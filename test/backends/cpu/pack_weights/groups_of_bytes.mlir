// RUN: opt-tool %s -p cpu-pack-weights | filecheck %s
// Bytes lie in groups of four, which the instruction sums up at once: 1000 units are whole vectors of eight. Thirty
// features are no groups of four, and 1001 units no whole vectors.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4",
    features = "+avx512f,+avx512vl,+avx512vnni", vector_bits = 512, registers = 32, threads = 1>} {
  // CHECK-LABEL: func.func @row
  // CHECK:       relay.layout_transform %w {dst_layout = "NK40n4k", src_layout = "NK"}
  // CHECK-NEXT:  relay.nn.contrib_dense_pack %x, %{{.+}} {out_dtype = "int32", units = 1000, weight_layout = "NK40n4k"}
  func.func @row(%x: tensor<1x32xui8>) -> tensor<1x1000xi32> {
    %w = relay.constant dense<1> : tensor<1000x32xi8>
    %y = relay.nn.dense %x, %w {out_dtype = "int32"} : (tensor<1x32xui8>, tensor<1000x32xi8>) -> tensor<1x1000xi32>
    return %y : tensor<1x1000xi32>
  }

  // CHECK-LABEL: func.func @columns
  // CHECK:       relay.layout_transform %w {dst_layout = "NK32n4k", src_layout = "KN"}
  func.func @columns(%x: tensor<9x32xui8>) -> tensor<9x64xi32> {
    %w = relay.constant dense<1> : tensor<32x64xi8>
    %y = relay.nn.matmul %x, %w {out_dtype = "int32"} : (tensor<9x32xui8>, tensor<32x64xi8>) -> tensor<9x64xi32>
    return %y : tensor<9x64xi32>
  }

  // CHECK-LABEL: func.func @others
  // CHECK-NOT:   4k
  func.func @others(%x: tensor<9x30xui8>, %y: tensor<9x32xui8>) -> (tensor<9x64xi32>, tensor<9x1001xi32>) {
    %v = relay.constant dense<1> : tensor<64x30xi8>
    %w = relay.constant dense<1> : tensor<1001x32xi8>
    %0 = relay.nn.dense %x, %v {out_dtype = "int32"} : (tensor<9x30xui8>, tensor<64x30xi8>) -> tensor<9x64xi32>
    %1 = relay.nn.dense %y, %w {out_dtype = "int32"} : (tensor<9x32xui8>, tensor<1001x32xi8>) -> tensor<9x1001xi32>
    return %0, %1 : tensor<9x64xi32>, tensor<9x1001xi32>
  }
}
