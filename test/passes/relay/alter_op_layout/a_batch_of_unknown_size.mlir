// RUN: opt-tool %s -p 'relay-alter-op-layout{block=16}' | filecheck %s
// Blocks are of channels, whatever the batch and the image are. Channels of unknown number stay plain.

builtin.module attributes {relay.symbols = {h = #relay.symbol<min = 8, max = 64>, n = #relay.symbol<min = 1, max = 8>}} {
  // CHECK-LABEL: func.func @batch
  // CHECK:         relay.layout_transform %x {dst_layout = "NCHW16c", src_layout = "NCHW"} : {{.*}} -> tensor<?x4x28x28x16xf32, #relay.dims<n, _, _, _, _>>
  // CHECK:         relay.nn.contrib_conv2d_NCHWc
  // CHECK-NEXT:    relay.nn.relu {{.*}} : tensor<?x4x28x28x16xf32, #relay.dims<n, _, _, _, _>>
  // CHECK:         relay.layout_transform {{.*}} {dst_layout = "NCHW", src_layout = "NCHW16c"}
  func.func @batch(%x: tensor<?x64x28x28xf32, #relay.dims<n, _, _, _>>) -> tensor<?x64x28x28xf32, #relay.dims<n, _, _, _>> {
    %w = relay.constant #relay.param<"w", "0123456789abcdef"> : tensor<64x64x3x3xf32>
    %c = relay.nn.conv2d %x, %w {padding = [1, 1]} : (tensor<?x64x28x28xf32, #relay.dims<n, _, _, _>>, tensor<64x64x3x3xf32>) -> tensor<?x64x28x28xf32, #relay.dims<n, _, _, _>>
    %r = relay.nn.relu %c : tensor<?x64x28x28xf32, #relay.dims<n, _, _, _>>
    return %r : tensor<?x64x28x28xf32, #relay.dims<n, _, _, _>>
  }

  // CHECK-LABEL: func.func @height
  // CHECK:         relay.nn.contrib_conv2d_NCHWc {{.*}} -> tensor<1x4x?x28x16xf32, #relay.dims<_, _, h, _, _>>
  func.func @height(%x: tensor<1x64x?x28xf32, #relay.dims<_, _, h, _>>) -> tensor<1x64x?x28xf32, #relay.dims<_, _, h, _>> {
    %w = relay.constant #relay.param<"w", "0123456789abcdef"> : tensor<64x64x3x3xf32>
    %c = relay.nn.conv2d %x, %w {padding = [1, 1]} : (tensor<1x64x?x28xf32, #relay.dims<_, _, h, _>>, tensor<64x64x3x3xf32>) -> tensor<1x64x?x28xf32, #relay.dims<_, _, h, _>>
    return %c : tensor<1x64x?x28xf32, #relay.dims<_, _, h, _>>
  }

  // CHECK-LABEL: func.func @channels
  // CHECK-NOT:     relay.layout_transform
  // CHECK:         relay.nn.max_pool2d
  func.func @channels(%x: tensor<1x?x28x28xf32, #relay.dims<_, n, _, _>>) -> tensor<1x?x28x28xf32, #relay.dims<_, n, _, _>> {
    %c = relay.nn.max_pool2d %x {padding = [1, 1], pool_size = [3, 3]} : tensor<1x?x28x28xf32, #relay.dims<_, n, _, _>>
    return %c : tensor<1x?x28x28xf32, #relay.dims<_, n, _, _>>
  }
}
