// RUN: opt-tool %s -p cpu-pack-recurrent | filecheck %s
// Only the weights have to be known: neither how many steps there are nor how many sequences.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4",
    features = "+avx512f", vector_bits = 512, registers = 32, threads = 1>,
    relay.symbols = {b = #relay.symbol<min = 1, max = 8>, s = #relay.symbol<min = 1, max = 100>}} {
  func.func @main(%x: tensor<?x?x64xf32, #relay.dims<s, b, _>>, %w: tensor<1x64x64xf32>, %h: tensor<?x64xf32, #relay.dims<b, _>>) -> tensor<?x?x64xf32, #relay.dims<s, b, _>> {
    // CHECK: %[[W:.*]] = relay.layout_transform %w {dst_layout = "NKG[[BLOCK:[0-9]+]]n", src_layout = "GNK"}
    // CHECK: relay.nn.rnn %x, %[[W]], %h {weight_layout = "NKG[[BLOCK]]n"}
    %y:2 = relay.nn.rnn %x, %w, %h : (tensor<?x?x64xf32, #relay.dims<s, b, _>>, tensor<1x64x64xf32>, tensor<?x64xf32, #relay.dims<b, _>>) -> (tensor<?x?x64xf32, #relay.dims<s, b, _>>, tensor<?x64xf32, #relay.dims<b, _>>)
    func.return %y#0 : tensor<?x?x64xf32, #relay.dims<s, b, _>>
  }
}
