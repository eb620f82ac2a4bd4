// RUN: opt-tool %s -p relay-inline | filecheck %s
// A closure that is called once, inside a choice; a function of the module that is marked, called twice, once through
// its value; one marked function that calls another. Marked functions that nobody names any more go.

// CHECK-NOT: @scale
// CHECK-LABEL: func.func @main
// CHECK-NEXT:    %two = relay.constant
// CHECK-NEXT:    %r = relay.if %c -> tensor<8xf32> {
// CHECK-NEXT:      %sum = relay.add %x, %two
// CHECK-NEXT:      relay.yield %sum
// CHECK-NEXT:    } else {
// CHECK-NEXT:      relay.yield %x
// CHECK-NEXT:    }
// CHECK-NEXT:    %a = relay.exp %r
// CHECK-NEXT:    %a_1 = relay.nn.relu %a
// CHECK-NEXT:    %a_2 = relay.exp %a_1
// CHECK-NEXT:    %a_3 = relay.nn.relu %a_2
// CHECK-NEXT:    func.return %a_3
func.func @scale(%x: tensor<8xf32>) -> tensor<8xf32> attributes {Inline = 1 : i64} {
  %a = relay.exp %x : tensor<8xf32>
  %b = func.call @rectify(%a) : (tensor<8xf32>) -> tensor<8xf32>
  return %b : tensor<8xf32>
}
func.func @rectify(%x: tensor<8xf32>) -> tensor<8xf32> attributes {Inline = 1 : i64} {
  %a = relay.nn.relu %x : tensor<8xf32>
  return %a : tensor<8xf32>
}
func.func @main(%x: tensor<8xf32>, %c: tensor<i1>) -> tensor<8xf32> {
  %two = relay.constant dense<2.0> : tensor<f32>
  %f = relay.fn captures(%k = %two : tensor<f32>) (%y: tensor<8xf32>) -> tensor<8xf32> {
    %sum = relay.add %y, %k : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
    relay.return %sum : tensor<8xf32>
  }
  %r = relay.if %c -> tensor<8xf32> {
    %w = relay.call %f(%x) : (tensor<8xf32>) -> tensor<8xf32>
    relay.yield %w : tensor<8xf32>
  } else {
    relay.yield %x : tensor<8xf32>
  }
  %b = func.call @scale(%r) : (tensor<8xf32>) -> tensor<8xf32>
  %g = relay.global @scale : (tensor<8xf32>) -> tensor<8xf32>
  %d = relay.call %g(%b) : (tensor<8xf32>) -> tensor<8xf32>
  return %d : tensor<8xf32>
}
