// RUN: opt-tool %s -p relay-inline | filecheck %s
// What calls itself, alone or through another, is not inlined, nor is a kernel, a closure that is called twice or one
// that is used as a value.

// CHECK-LABEL: func.func @forever
// CHECK-NEXT:    func.call @forever(%x)
func.func @forever(%x: tensor<8xf32>) -> tensor<8xf32> attributes {Inline = 1 : i64} {
  %a = func.call @forever(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %a : tensor<8xf32>
}
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK: func.call @forever(%x)
  %a = func.call @forever(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %kernel = relay.fn (%y: tensor<8xf32>) -> tensor<8xf32> attributes {Primitive = 1 : i64} {
    %0 = relay.exp %y : tensor<8xf32>
    relay.return %0 : tensor<8xf32>
  }
  // CHECK: relay.call %kernel(%a)
  %b = relay.call %kernel(%a) : (tensor<8xf32>) -> tensor<8xf32>
  %twice = relay.fn (%y: tensor<8xf32>) -> tensor<8xf32> {
    %0 = relay.exp %y : tensor<8xf32>
    relay.return %0 : tensor<8xf32>
  }
  // CHECK: relay.call %twice(%b)
  %d = relay.call %twice(%b) : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK: relay.call %twice(%d)
  %e = relay.call %twice(%d) : (tensor<8xf32>) -> tensor<8xf32>
  %again = relay.fn self %me (%y: tensor<8xf32>) -> tensor<8xf32> {
    %0 = relay.call %me(%y) : (tensor<8xf32>) -> tensor<8xf32>
    relay.return %0 : tensor<8xf32>
  }
  // CHECK: relay.call %again(%e)
  %f = relay.call %again(%e) : (tensor<8xf32>) -> tensor<8xf32>
  return %f : tensor<8xf32>
}
