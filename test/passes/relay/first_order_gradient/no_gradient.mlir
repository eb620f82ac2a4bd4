// RUN: not opt-tool %s -p relay-first-order-gradient 2>&1 | filecheck %s --check-prefix=OP
// RUN: not opt-tool %s -p relay-first-order-gradient{function=integers} 2>&1 | filecheck %s --check-prefix=INTEGERS
// RUN: not opt-tool %s -p relay-first-order-gradient{function=handed} 2>&1 | filecheck %s --check-prefix=HANDED
// RUN: not opt-tool %s -p relay-first-order-gradient{function=cell} 2>&1 | filecheck %s --check-prefix=CELL
// RUN: not opt-tool %s -p relay-first-order-gradient{function=mian} 2>&1 | filecheck %s --check-prefix=NONE

// OP: no_gradient.mlir:14:8: error: relay.reinterpret has no gradient: the bits of a number as those of another
// INTEGERS: error: @integers gives no floats: there is nothing to differentiate
// HANDED: error: @handed takes or gives functions: which they are is not known
// CELL: error: the gradient of a program with relay.ref_create
// NONE: error: there is no function @mian with a body in the module
func.func @main(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %a = relay.abs %x : tensor<4x4xf32>
  %y = relay.reinterpret %a {dtype = "float32"} : tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}
func.func @integers(%x: tensor<i32>) -> tensor<i32> {
  return %x : tensor<i32>
}
func.func @handed(%f: (tensor<f32>) -> tensor<f32>, %x: tensor<f32>) -> tensor<f32> {
  %y = relay.call %f(%x) : (tensor<f32>) -> tensor<f32>
  return %y : tensor<f32>
}
func.func @cell(%x: tensor<f32>) -> tensor<f32> {
  %c = relay.ref_create %x : tensor<f32>
  %y = relay.ref_read %c : !relay.ref<tensor<f32>>
  return %y : tensor<f32>
}
