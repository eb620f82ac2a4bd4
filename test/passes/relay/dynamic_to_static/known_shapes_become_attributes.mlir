// RUN: opt-tool %s -p relay-dynamic-to-static,relay-dead-code-elimination | filecheck %s
// Constants, the shape of a tensor, and what is computed of both; the ops behind are inferred again, inside regions
// too; a tuple gets the type that it says.

// CHECK-LABEL: func.func @main
// CHECK-SAME:    -> (tensor<3x2xf32>, tensor<4x5xf32>, tuple<tensor<?x?xf32>>, tensor<?x?xf32>)
func.func @main(%x: tensor<6xf32>, %y: tensor<2x5xf32>, %c: tensor<i1>) -> (tensor<?x?xf32>, tensor<?x?xf32>, tuple<tensor<?x?xf32>>, tensor<?x?xf32>) {
  %s = relay.constant dense<[3, 2]> : tensor<2xi32>
  // CHECK: %a = relay.reshape %x {newshape = [3, 2]} : (tensor<6xf32>) -> tensor<3x2xf32>
  %a = relay.dyn.reshape %x, %s : (tensor<6xf32>, tensor<2xi32>) -> tensor<?x?xf32>
  // CHECK-NEXT: relay.copy %a : (tensor<3x2xf32>) -> tensor<?x?xf32>
  // CHECK-NEXT: %r = relay.nn.relu %a : tensor<3x2xf32>
  %r = relay.nn.relu %a : tensor<?x?xf32>
  %of = relay.shape_of %y : (tensor<2x5xf32>) -> tensor<2xi32>
  %two = relay.constant dense<[2, 1]> : tensor<2xi32>
  %more = relay.multiply %of, %two : tensor<2xi32>
  // CHECK: %z = relay.zeros {shape = [4, 5]} : tensor<4x5xf32>
  %z = relay.dyn.zeros %more : (tensor<2xi32>) -> tensor<?x?xf32>
  %q = relay.if %c -> tensor<?x?xf32> {
    // CHECK: relay.exp %a : tensor<3x2xf32>
    %e = relay.exp %a : tensor<?x?xf32>
    relay.yield %e : tensor<?x?xf32>
    // CHECK-NEXT: relay.yield %e : tensor<3x2xf32>
  } else {
    relay.yield %r : tensor<?x?xf32>
  }
  // CHECK: relay.tuple({{%[a-z0-9_]+}}) : tuple<tensor<?x?xf32>>
  %t = relay.tuple(%a) : tuple<tensor<?x?xf32>>
  return %r, %z, %t, %q : tensor<?x?xf32>, tensor<?x?xf32>, tuple<tensor<?x?xf32>>, tensor<?x?xf32>
}
