// RUN: opt-tool %s --verify-roundtrip --run @main | filecheck %s
// A loop written as recursion through `self`, a closure that keeps the value it was made with, and a function of
// another function.

// CHECK:      sum: int32[]
// CHECK-NEXT: 5050
// CHECK:      kept: float32[3]
// CHECK-NEXT: [11., 12., 13.]
// CHECK:      twice: float32[3]
// CHECK-NEXT: [21., 22., 23.]
// CHECK:      pair: ([1., 2., 3.], 5050)
func.func @twice(%f: (tensor<3xf32>) -> tensor<3xf32>, %x: tensor<3xf32>) -> tensor<3xf32> {
  %once = relay.call %f(%x) : (tensor<3xf32>) -> tensor<3xf32>
  %again = relay.call %f(%once) : (tensor<3xf32>) -> tensor<3xf32>
  return %again : tensor<3xf32>
}
func.func @adder(%k: tensor<f32>) -> tuple<(tensor<3xf32>) -> tensor<3xf32>> {
  %add = relay.fn captures(%c = %k : tensor<f32>) (%y: tensor<3xf32>) -> tensor<3xf32> {
    %sum = relay.add %y, %c : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
    relay.return %sum : tensor<3xf32>
  }
  %kept = relay.tuple(%add) : tuple<(tensor<3xf32>) -> tensor<3xf32>>
  return %kept : tuple<(tensor<3xf32>) -> tensor<3xf32>>
}
func.func @main() -> (tensor<i32> {lamina.name = "sum"}, tensor<3xf32> {lamina.name = "kept"}, tensor<3xf32> {lamina.name = "twice"}, tuple<tensor<3xf32>, tensor<i32>> {lamina.name = "pair"}) {
  %hundred = relay.constant dense<100> : tensor<i32>
  %zero = relay.constant dense<0> : tensor<i32>
  %count = relay.fn captures(%end = %zero : tensor<i32>) self %again (%n: tensor<i32>, %total: tensor<i32>) -> tensor<i32> {
    %more = relay.greater %n, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %r = relay.if %more -> tensor<i32> {
      %one = relay.constant dense<1> : tensor<i32>
      %next = relay.subtract %n, %one : tensor<i32>
      %sum = relay.add %total, %n : tensor<i32>
      %s = relay.call %again(%next, %sum) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      relay.yield %s : tensor<i32>
    } else {
      relay.yield %total : tensor<i32>
    }
    relay.return %r : tensor<i32>
  }
  %sum = relay.call %count(%hundred, %zero) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %x = relay.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %ten = relay.constant dense<10.0> : tensor<f32>
  %made = func.call @adder(%ten) : (tensor<f32>) -> tuple<(tensor<3xf32>) -> tensor<3xf32>>
  %add = relay.tuple_get_item %made[0] : tuple<(tensor<3xf32>) -> tensor<3xf32>>
  %kept = relay.call %add(%x) : (tensor<3xf32>) -> tensor<3xf32>
  %twice = relay.global @twice : ((tensor<3xf32>) -> tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %t = relay.call %twice(%add, %x) : ((tensor<3xf32>) -> tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %pair = relay.tuple(%x, %sum) : tuple<tensor<3xf32>, tensor<i32>>
  return %sum, %kept, %t, %pair : tensor<i32>, tensor<3xf32>, tensor<3xf32>, tuple<tensor<3xf32>, tensor<i32>>
}
