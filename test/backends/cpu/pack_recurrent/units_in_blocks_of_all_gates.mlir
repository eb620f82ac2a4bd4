// RUN: opt-tool %s -p cpu-pack-recurrent | filecheck %s
// Eight vectors are summed at once: two of units for the four gates of an LSTM, four for z and r of a GRU.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4",
    features = "+avx512f", vector_bits = 512, registers = 32, threads = 1>} {
  func.func @main(%x: tensor<3x1x256xf32>, %w: tensor<4x64x64xf32>, %h: tensor<1x64xf32>,
      %g: tensor<3x1x192xf32>, %u: tensor<2x64x64xf32>, %v: tensor<1x64x64xf32>) -> (tensor<3x1x64xf32>, tensor<3x1x64xf32>) {
    // CHECK:      %0 = relay.layout_transform %w {dst_layout = "NKG32n", src_layout = "GNK"} : (tensor<4x64x64xf32>) -> tensor<2x64x4x32xf32>
    // CHECK-NEXT: relay.nn.lstm %x, %0, %h, %h {weight_layout = "NKG32n"}
    %y:3 = relay.nn.lstm %x, %w, %h, %h : (tensor<3x1x256xf32>, tensor<4x64x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>) -> (tensor<3x1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>)
    // CHECK:      relay.layout_transform %u {dst_layout = "NKG64n", src_layout = "GNK"}
    // CHECK-NEXT: relay.layout_transform %v {dst_layout = "NKG64n", src_layout = "GNK"}
    // CHECK-NEXT: relay.nn.gru %g, {{.*}} {weight_layout = "NKG64n"}
    %z:2 = relay.nn.gru %g, %u, %v, %h : (tensor<3x1x192xf32>, tensor<2x64x64xf32>, tensor<1x64x64xf32>, tensor<1x64xf32>) -> (tensor<3x1x64xf32>, tensor<1x64xf32>)
    func.return %y#0, %z#0 : tensor<3x1x64xf32>, tensor<3x1x64xf32>
  }
}
