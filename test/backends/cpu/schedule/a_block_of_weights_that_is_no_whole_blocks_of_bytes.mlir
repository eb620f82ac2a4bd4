// RUN: opt-tool %s -p relay-to-te,cpu-schedule | filecheck %s
// RUN: lamina debug compare --quiet -p relay-to-te,cpu-schedule,te-to-tir %s
// A product of four bytes fills a vector of the result: where a block of it is none, or not in one block of the weights,
// there is no such instruction.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4",
    features = "+avx512f,+avx512vl,+avx512vnni", vector_bits = 512, registers = 32, threads = 1>} {
  func.func @main(%x: tensor<1x1x2x2x4xui8>, %v: tensor<2x1x1x1x24x4xi8>, %w: tensor<2x1x1x1x48x4xi8>) -> (tensor<1x3x2x2x16xi32>, tensor<1x3x2x2x32xi32>) {
    %f0 = relay.fn (%p0: tensor<1x1x2x2x4xui8>, %p1: tensor<2x1x1x1x24x4xi8>) -> tensor<1x3x2x2x16xi32> attributes {Primitive = 1 : i64} {
      %0 = relay.nn.contrib_conv2d_NCHWc %p0, %p1 {channels = 48, data_layout = "NCHW4c", kernel_layout = "OIHW24o4i", out_dtype = "int32"} : (tensor<1x1x2x2x4xui8>, tensor<2x1x1x1x24x4xi8>) -> tensor<1x3x2x2x16xi32>
      relay.return %0 : tensor<1x3x2x2x16xi32>
    }
    %f1 = relay.fn (%p0: tensor<1x1x2x2x4xui8>, %p1: tensor<2x1x1x1x48x4xi8>) -> tensor<1x3x2x2x32xi32> attributes {Primitive = 1 : i64} {
      %0 = relay.nn.contrib_conv2d_NCHWc %p0, %p1 {channels = 96, data_layout = "NCHW4c", kernel_layout = "OIHW48o4i", out_layout = "NCHW32c", out_dtype = "int32"} : (tensor<1x1x2x2x4xui8>, tensor<2x1x1x1x48x4xi8>) -> tensor<1x3x2x2x32xi32>
      relay.return %0 : tensor<1x3x2x2x32xi32>
    }
    %y0 = relay.call %f0(%x, %v) : (tensor<1x1x2x2x4xui8>, tensor<2x1x1x1x24x4xi8>) -> tensor<1x3x2x2x16xi32>
    %y1 = relay.call %f1(%x, %w) : (tensor<1x1x2x2x4xui8>, tensor<2x1x1x1x48x4xi8>) -> tensor<1x3x2x2x32xi32>
    return %y0, %y1 : tensor<1x3x2x2x16xi32>, tensor<1x3x2x2x32xi32>
  }
}
// CHECK:     te.schedule @fused_nn_contrib_conv2d_NCHWc
// CHECK-NOT: te.tensorize
