// RUN: opt-tool %s -p relay-external-codegen | filecheck %s
// The function becomes a declaration; a composite is a node with what it consists of, constants stay apart.

// CHECK:      %y = func.call @tvmgen_default_openblas_main_0(%x) : (tensor<1x8xf32>) -> tensor<1x4xf32>
// CHECK:      func.func private @tvmgen_default_openblas_main_0(tensor<1x8xf32>) -> tensor<1x4xf32>
// CHECK-SAME: Compiler = "openblas"
// CHECK-SAME: "{\22nodes\22:[{\22op\22:\22input\22,\22name\22:\22i0\22,\22shape\22:[[1,8]],\22dtype\22:[\22float32\22]}
// CHECK-SAME: {\22op\22:\22const\22,\22name\22:\22tvmgen_default_openblas_main_0_const_0\22,\22shape\22:[[4,8]]
// CHECK-SAME: {\22op\22:\22kernel\22,\22name\22:\22openblas.dense_relu\22
// CHECK-SAME: \22inputs\22:[[0,0,0],[1,0,0]],\22graph\22:{\22nodes\22:
// CHECK-SAME: \22name\22:\22nn.dense\22
// CHECK-SAME: \22name\22:\22nn.relu\22
// CHECK-SAME: \22arg_nodes\22:[0,1],\22heads\22:[[2,0,0]],\22node_row_ptr\22:[0,1,2,3]}"
// CHECK-SAME: constants = [#relay.param<"w">]
func.func @main(%x: tensor<1x8xf32>) -> tensor<1x4xf32> {
  %y = func.call @tvmgen_default_openblas_main_0(%x) : (tensor<1x8xf32>) -> tensor<1x4xf32>
  return %y : tensor<1x4xf32>
}
func.func @tvmgen_default_openblas_main_0(%i0: tensor<1x8xf32>) -> tensor<1x4xf32>
    attributes {Compiler = "openblas", Inline = 1 : i64, Primitive = 1 : i64, global_symbol = "tvmgen_default_openblas_main_0"} {
  %w = relay.constant #relay.param<"w"> : tensor<4x8xf32>
  %f = relay.fn (%a: tensor<1x8xf32>, %b: tensor<4x8xf32>) -> tensor<1x4xf32> attributes {Composite = "openblas.dense_relu"} {
    %0 = relay.nn.dense %a, %b : (tensor<1x8xf32>, tensor<4x8xf32>) -> tensor<1x4xf32>
    %1 = relay.nn.relu %0 : tensor<1x4xf32>
    relay.return %1 : tensor<1x4xf32>
  }
  %r = relay.call %f(%i0, %w) : (tensor<1x8xf32>, tensor<4x8xf32>) -> tensor<1x4xf32>
  return %r : tensor<1x4xf32>
}
