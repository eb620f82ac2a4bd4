// RUN: opt-tool %s -p 'relay-merge-composite{patterns=dnnl},relay-annotate-target{targets=dnnl},relay-merge-compiler-regions,relay-partition-graph' | filecheck %s
// The four passes together; the composite is a local function inside the global one.

// CHECK:      func.func @main
// CHECK-NEXT:   %p = func.call @tvmgen_default_dnnl_main_0(%x) :
// CHECK-NEXT:   func.return %p
// CHECK:      func.func @tvmgen_default_dnnl_main_0(%dnnl_0_i0: tensor<1x3x8x8xf32>)
// CHECK-NEXT:   %[[F:[0-9]+]] = relay.fn
// CHECK-SAME:     {Composite = "dnnl.conv2d_bias_relu", PartitionedFromPattern = "nn.conv2d_nn.bias_add_nn.relu_"}
// CHECK:        %w = relay.constant #relay.param
// CHECK:        %b = relay.constant dense
// CHECK-NEXT:   %r = relay.call %[[F]](%dnnl_0_i0, %w, %b)
// CHECK-NEXT:   %p = relay.nn.max_pool2d %r
// CHECK-NEXT:   func.return %p
func.func @main(%x: tensor<1x3x8x8xf32>) -> tensor<1x4x4x4xf32> {
  %w = relay.constant #relay.param<"w", "9f86d081884c7d65"> : tensor<4x3x1x1xf32>
  %b = relay.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %c = relay.nn.conv2d %x, %w : (tensor<1x3x8x8xf32>, tensor<4x3x1x1xf32>) -> tensor<1x4x8x8xf32>
  %d = relay.nn.bias_add %c, %b : (tensor<1x4x8x8xf32>, tensor<4xf32>) -> tensor<1x4x8x8xf32>
  %r = relay.nn.relu %d : tensor<1x4x8x8xf32>
  %p = relay.nn.max_pool2d %r {pool_size = [2, 2], strides = [2, 2]} : (tensor<1x4x8x8xf32>) -> tensor<1x4x4x4xf32>
  return %p : tensor<1x4x4x4xf32>
}
