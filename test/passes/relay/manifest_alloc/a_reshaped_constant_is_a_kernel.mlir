// RUN: opt-tool %s -p relay-manifest-alloc | filecheck %s
// A kernel that reshapes a tensor of its own, and not its argument, is called.

// CHECK-LABEL: func.func @main
// CHECK-NOT:   reshape_tensor
// CHECK:       relay.vm.invoke_tvm_op %k(%x) into (%y)
// CHECK-NEXT:  return %y
func.func @main(%x: tensor<2x2xf32>) -> tensor<4xf32> {
  %k = relay.fn (%a: tensor<2x2xf32>) -> tensor<4xf32> attributes {Primitive = 1 : i64} {
    %c = relay.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
    %r = relay.reshape %c {newshape = [4]} : (tensor<2x2xf32>) -> tensor<4xf32>
    relay.return %r : tensor<4xf32>
  }
  %y = relay.call %k(%x) : (tensor<2x2xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
