// RUN: opt-tool %s -p cpu-winograd | filecheck %s
// Tiles are chosen for some batch of those that the module allows.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4",
    features = "+avx512f", vector_bits = 512, registers = 32, threads = 1>,
    relay.symbols = {n = #relay.symbol<min = 1, max = 64>}} {
  func.func @main(%x: tensor<?x4x56x56x16xf32, #relay.dims<n, _, _, _, _>>) -> tensor<?x4x56x56x16xf32, #relay.dims<n, _, _, _, _>> {
    %w = relay.constant #relay.param<"w", "0123456789abcdef"> : tensor<2x4x3x3x16x32xf32>
    // CHECK: relay.nn.contrib_conv2d_winograd_NCHWc {{.*}} tile_size = 4
    %y = relay.nn.contrib_conv2d_NCHWc %x, %w {channels = 64, padding = [1, 1]} : (tensor<?x4x56x56x16xf32, #relay.dims<n, _, _, _, _>>, tensor<2x4x3x3x16x32xf32>) -> tensor<?x4x56x56x16xf32, #relay.dims<n, _, _, _, _>>
    return %y : tensor<?x4x56x56x16xf32, #relay.dims<n, _, _, _, _>>
  }
}
