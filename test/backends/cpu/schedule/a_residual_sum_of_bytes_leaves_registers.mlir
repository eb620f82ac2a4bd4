// RUN: opt-tool %s -p relay-to-te,cpu-schedule | filecheck %s
// Seven pixels by four vectors, and those of the weights, are all registers: where another tensor is added tiles take half
// of them.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4",
    features = "+avx512f,+avx512vnni", vector_bits = 512, registers = 32, threads = 1>} {
  func.func @main(%x: tensor<1x2x7x7x16xui8>, %w: tensor<4x8x1x1x32x4xi8>, %z: tensor<1x8x7x7x16xi32>) -> (tensor<1x8x7x7x16xi32>, tensor<1x8x7x7x16xi32>) {
    %f0 = relay.fn (%p0: tensor<1x2x7x7x16xui8>, %p1: tensor<4x8x1x1x32x4xi8>) -> tensor<1x8x7x7x16xi32> attributes {Primitive = 1 : i64} {
      %0 = relay.nn.contrib_conv2d_NCHWc %p0, %p1 {channels = 128, kernel_layout = "OIHW32o4i", out_dtype = "int32"} : (tensor<1x2x7x7x16xui8>, tensor<4x8x1x1x32x4xi8>) -> tensor<1x8x7x7x16xi32>
      %1 = relay.nn.relu %0 : tensor<1x8x7x7x16xi32>
      relay.return %1 : tensor<1x8x7x7x16xi32>
    }
    %f1 = relay.fn (%p0: tensor<1x2x7x7x16xui8>, %p1: tensor<4x8x1x1x32x4xi8>, %p2: tensor<1x8x7x7x16xi32>) -> tensor<1x8x7x7x16xi32> attributes {Primitive = 1 : i64} {
      %0 = relay.nn.contrib_conv2d_NCHWc %p0, %p1 {channels = 128, kernel_layout = "OIHW32o4i", out_dtype = "int32"} : (tensor<1x2x7x7x16xui8>, tensor<4x8x1x1x32x4xi8>) -> tensor<1x8x7x7x16xi32>
      %1 = relay.add %0, %p2 : (tensor<1x8x7x7x16xi32>, tensor<1x8x7x7x16xi32>) -> tensor<1x8x7x7x16xi32>
      relay.return %1 : tensor<1x8x7x7x16xi32>
    }
    %y0 = relay.call %f0(%x, %w) : (tensor<1x2x7x7x16xui8>, tensor<4x8x1x1x32x4xi8>) -> tensor<1x8x7x7x16xi32>
    %y1 = relay.call %f1(%x, %w, %z) : (tensor<1x2x7x7x16xui8>, tensor<4x8x1x1x32x4xi8>, tensor<1x8x7x7x16xi32>) -> tensor<1x8x7x7x16xi32>
    return %y0, %y1 : tensor<1x8x7x7x16xi32>, tensor<1x8x7x7x16xi32>
  }
}

// CHECK-LABEL: te.schedule @fused_nn_contrib_conv2d_NCHWc_nn_relu {
// CHECK:        te.split %ko [-1, 4]
// CHECK-NEXT:   %xo, %xi = te.split %x [-1, 7]

// CHECK-LABEL: te.schedule @fused_nn_contrib_conv2d_NCHWc_add {
// CHECK:        te.split %ko [-1, 2]
// CHECK-NEXT:   %xo, %xi = te.split %x [-1, 7]
