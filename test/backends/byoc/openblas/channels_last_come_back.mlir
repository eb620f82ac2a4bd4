// RUN: lamina debug compare %s -p relay-external-codegen | filecheck %s
// A function that others have partitioned: what the backend does not compute is compiled here.

// CHECK: all {{[0-9]+}} steps agree
func.func private @tvmgen_default_openblas_main_0(%x: tensor<2x1x1x1xf32>, %w: tensor<1x1x1x2xf32>) -> tensor<2x1x1x2xf32> attributes {Compiler = "openblas", global_symbol = "tvmgen_default_openblas_main_0", Inline = 1 : i64, Primitive = 1 : i64} {
  %y = relay.nn.conv2d %x, %w {channels = 2, data_layout = "NHWC", kernel_layout = "HWIO", kernel_size = [1, 1], padding = [0, 0, 0, 0]} : (tensor<2x1x1x1xf32>, tensor<1x1x1x2xf32>) -> tensor<2x1x1x2xf32>
  func.return %y : tensor<2x1x1x2xf32>
}
func.func @main(%x: tensor<2x1x1x1xf32>, %w: tensor<1x1x1x2xf32>) -> tensor<2x1x1x2xf32> {
  %y = func.call @tvmgen_default_openblas_main_0(%x, %w) : (tensor<2x1x1x1xf32>, tensor<1x1x1x2xf32>) -> tensor<2x1x1x2xf32>
  func.return %y : tensor<2x1x1x2xf32>
}
