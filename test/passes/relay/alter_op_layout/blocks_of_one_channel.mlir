// RUN: opt-tool %s -p 'relay-canonicalize-ops,relay-fold-constant,relay-alter-op-layout{block=1 v=1}' | filecheck %s
// RUN: lamina debug compare --quiet %s -p 'relay-canonicalize-ops,relay-fold-constant,relay-alter-op-layout{block=1 v=1}'
// A machine without vectors computes one channel at a time; the sum over channels knows such blocks, too.

// CHECK: relay.nn.contrib_conv2d_NCHWc
// CHECK: relay.nn.lrn %{{.*}} {{.*}}layout = "NCHW1c"
func.func @main(%x: tensor<1x3x5x5xf32>) -> tensor<1x4x5x5xf32> {
  %w = relay.constant dense<0.25> : tensor<4x3x1x1xf32>
  %c = relay.nn.conv2d %x, %w : (tensor<1x3x5x5xf32>, tensor<4x3x1x1xf32>) -> tensor<1x4x5x5xf32>
  %y = relay.nn.lrn %c {size = 3, alpha = 0.5 : f64} : tensor<1x4x5x5xf32>
  return %y : tensor<1x4x5x5xf32>
}
