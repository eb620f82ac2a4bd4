// RUN: opt-tool %s -p relay-inline{unmarked} | filecheck %s
// Functions of the module and local ones, however often they are called; a kernel and what calls itself stay.

// CHECK-NOT: func.func @double(
// CHECK-LABEL: func.func @main
// CHECK-NEXT:    %y = relay.add %x, %x
// CHECK-NEXT:    %y_1 = relay.add %y, %y
// CHECK-NEXT:    %d = relay.exp %y_1
// CHECK-NEXT:    %e = relay.exp %d
// CHECK-NEXT:    %kernel = relay.fn
// CHECK:         %b = relay.call %kernel(%e)
// CHECK-NEXT:    %r = func.call @count(%b)
// CHECK-LABEL: func.func @count
// CHECK:         func.call @count
func.func @double(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y = relay.add %x, %x : tensor<8xf32>
  return %y : tensor<8xf32>
}
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %a = func.call @double(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %c = func.call @double(%a) : (tensor<8xf32>) -> tensor<8xf32>
  %twice = relay.fn (%y: tensor<8xf32>) -> tensor<8xf32> {
    %0 = relay.exp %y : tensor<8xf32>
    relay.return %0 : tensor<8xf32>
  }
  %d = relay.call %twice(%c) : (tensor<8xf32>) -> tensor<8xf32>
  %e = relay.call %twice(%d) : (tensor<8xf32>) -> tensor<8xf32>
  %kernel = relay.fn (%y: tensor<8xf32>) -> tensor<8xf32> attributes {Primitive = 1 : i64} {
    %0 = relay.exp %y : tensor<8xf32>
    relay.return %0 : tensor<8xf32>
  }
  %b = relay.call %kernel(%e) : (tensor<8xf32>) -> tensor<8xf32>
  %r = func.call @count(%b) : (tensor<8xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}
func.func @count(%x: tensor<8xf32>) -> tensor<8xf32> {
  %a = func.call @count(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %a : tensor<8xf32>
}
