// RUN: opt-tool %s -p relay-lambda-lift | filecheck %s
// RUN: opt-tool %s -p relay-lambda-lift --run @main | filecheck %s --check-prefix=RESULT
// RUN: opt-tool %s --run @main | filecheck %s --check-prefix=RESULT
// A loop with a captured value; a closure that is passed on keeps its captures in one that calls; one without
// captures becomes the function's value. The innermost is lifted first.

// RESULT: int32[]
// RESULT-NEXT: 30
// CHECK:      func.func @lifted_count(%n: tensor<i32>, %total: tensor<i32>, %step: tensor<i32>) -> tensor<i32>
// CHECK:        func.call @lifted_count(%next, %sum, %step)
// CHECK:      func.func @lifted_show(%y: tensor<i32>, %k: tensor<i32>) -> tensor<i32>
// CHECK-NEXT:   relay.add %y, %k
// CHECK:      func.func @lifted_plain(%y: tensor<i32>) -> tensor<i32>
// CHECK:      func.func @main
// CHECK:        func.call @lifted_count(%ten, %zero, %one)
// CHECK:        %show = relay.fn captures(%k = %ten : tensor<i32>) (%y: tensor<i32>) -> tensor<i32> {
// CHECK-NEXT:     func.call @lifted_show(%y, %k)
// CHECK:        %plain = relay.global @lifted_plain
// CHECK:        func.call @apply(%show, %plain, %s)
func.func @apply(%f: (tensor<i32>) -> tensor<i32>, %g: (tensor<i32>) -> tensor<i32>, %x: tensor<i32>) -> tensor<i32> {
  %a = relay.call %f(%x) : (tensor<i32>) -> tensor<i32>
  %b = relay.call %g(%a) : (tensor<i32>) -> tensor<i32>
  return %b : tensor<i32>
}
func.func @main() -> tensor<i32> {
  %ten = relay.constant dense<10> : tensor<i32>
  %zero = relay.constant dense<0> : tensor<i32>
  %one = relay.constant dense<2> : tensor<i32>
  %count = relay.fn captures(%step = %one : tensor<i32>) self %again (%n: tensor<i32>, %total: tensor<i32>) -> tensor<i32> {
    %none = relay.constant dense<0> : tensor<i32>
    %more = relay.greater %n, %none : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %r = relay.if %more -> tensor<i32> {
      %less = relay.constant dense<1> : tensor<i32>
      %next = relay.subtract %n, %less : tensor<i32>
      %sum = relay.add %total, %step : tensor<i32>
      %s = relay.call %again(%next, %sum) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      relay.yield %s : tensor<i32>
    } else {
      relay.yield %total : tensor<i32>
    }
    relay.return %r : tensor<i32>
  }
  %s = relay.call %count(%ten, %zero) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %show = relay.fn captures(%k = %ten : tensor<i32>) (%y: tensor<i32>) -> tensor<i32> {
    %0 = relay.add %y, %k : tensor<i32>
    relay.return %0 : tensor<i32>
  }
  %plain = relay.fn (%y: tensor<i32>) -> tensor<i32> {
    %0 = relay.abs %y : tensor<i32>
    relay.return %0 : tensor<i32>
  }
  %r = func.call @apply(%show, %plain, %s) : ((tensor<i32>) -> tensor<i32>, (tensor<i32>) -> tensor<i32>, tensor<i32>) -> tensor<i32>
  return %r : tensor<i32>
}
