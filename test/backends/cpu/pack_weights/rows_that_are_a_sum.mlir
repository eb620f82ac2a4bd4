// RUN: opt-tool %s -p cpu-pack-weights | filecheck %s
// There may be one row, which a tile of several computes as well.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4",
    features = "+avx512f", vector_bits = 512, registers = 32, threads = 1>,
    relay.symbols = {p = #relay.symbol<min = 0, max = 99>, s = #relay.symbol<min = 1, max = 9>}} {
  func.func @main(%x: tensor<?x32xf32, #relay.dims<p + s, _>>) -> tensor<?x32xf32, #relay.dims<p + s, _>> {
    %w = relay.constant #relay.param<"w", "0123456789abcdef"> : tensor<32x32xf32>
    // CHECK: relay.nn.contrib_dense_pack
    %y = relay.nn.dense %x, %w : (tensor<?x32xf32, #relay.dims<p + s, _>>, tensor<32x32xf32>) -> tensor<?x32xf32, #relay.dims<p + s, _>>
    func.return %y : tensor<?x32xf32, #relay.dims<p + s, _>>
  }
}
