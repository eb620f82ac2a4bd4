// RUN: opt-tool %s -p relay-dynamic-to-static | filecheck %s
// A shape that is an argument, or that of a tensor with unknown extents, is not known. The type of a function that is
// called stays.

// CHECK-LABEL: func.func @given
func.func @given(%x: tensor<6xf32>, %s: tensor<2xi32>, %y: tensor<?x2xf32>) -> tensor<?x?xf32> {
  // CHECK: relay.dyn.reshape %x, %s
  %a = relay.dyn.reshape %x, %s : (tensor<6xf32>, tensor<2xi32>) -> tensor<?x?xf32>
  %of = relay.shape_of %y : (tensor<?x2xf32>) -> tensor<2xi32>
  // CHECK: relay.dyn.reshape %a, %of
  %b = relay.dyn.reshape %a, %of : (tensor<?x?xf32>, tensor<2xi32>) -> tensor<?x?xf32>
  return %b : tensor<?x?xf32>
}
// CHECK-LABEL: func.func @called
// CHECK-SAME:    -> tensor<?x?xf32>
func.func @called(%x: tensor<6xf32>) -> tensor<?x?xf32> {
  %s = relay.constant dense<[3, 2]> : tensor<2xi32>
  // CHECK: relay.reshape
  // CHECK: relay.copy
  %a = relay.dyn.reshape %x, %s : (tensor<6xf32>, tensor<2xi32>) -> tensor<?x?xf32>
  return %a : tensor<?x?xf32>
}
func.func @main(%x: tensor<6xf32>) -> tensor<?x?xf32> {
  %a = func.call @called(%x) : (tensor<6xf32>) -> tensor<?x?xf32>
  return %a : tensor<?x?xf32>
}
