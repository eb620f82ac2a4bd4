// RUN: opt-tool %s -p relay-fold-constant --verify-roundtrip | filecheck %s

// What the other branch computes is gone, and what led to the condition; a choice inside is a choice of its own.
// CHECK-LABEL: func.func @main
// CHECK-NEXT:    %e = relay.exp %x : tensor<4xf32>
// CHECK-NEXT:    %inner = relay.if %c -> tensor<4xf32> {
// CHECK-NEXT:      %t = relay.tanh %e : tensor<4xf32>
// CHECK-NEXT:      relay.yield %t : tensor<4xf32>
// CHECK-NEXT:    } else {
// CHECK-NEXT:      relay.yield %x : tensor<4xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %inner, %x
func.func @main(%x: tensor<4xf32>, %c: tensor<i1>) -> (tensor<4xf32>, tensor<4xf32>) {
  %one = relay.constant dense<1.0> : tensor<f32>
  %two = relay.constant dense<2.0> : tensor<f32>
  %less = relay.less %one, %two : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %r, %s = relay.if %less -> (tensor<4xf32>, tensor<4xf32>) {
    %e = relay.exp %x : tensor<4xf32>
    %inner = relay.if %c -> tensor<4xf32> {
      %t = relay.tanh %e : tensor<4xf32>
      relay.yield %t : tensor<4xf32>
    } else {
      relay.yield %x : tensor<4xf32>
    }
    relay.yield %inner, %x : tensor<4xf32>, tensor<4xf32>
  } else {
    %n = relay.negative %x : tensor<4xf32>
    %less_again = relay.constant dense<true> : tensor<i1>
    %never = relay.if %less_again -> tensor<4xf32> {
      relay.yield %n : tensor<4xf32>
    } else {
      relay.yield %x : tensor<4xf32>
    }
    relay.yield %never, %n : tensor<4xf32>, tensor<4xf32>
  }
  return %r, %s : tensor<4xf32>, tensor<4xf32>
}

// A condition that comes from outside stays a choice; a known one inside its branch does not.
// CHECK-LABEL: func.func @unknown
// CHECK-NEXT:    %r = relay.if %c -> tensor<4xf32> {
// CHECK-NEXT:      %n = relay.negative %x : tensor<4xf32>
// CHECK-NEXT:      relay.yield %n : tensor<4xf32>
// CHECK-NEXT:    } else {
// CHECK-NEXT:      relay.yield %x : tensor<4xf32>
// CHECK-NEXT:    }
func.func @unknown(%x: tensor<4xf32>, %c: tensor<i1>) -> tensor<4xf32> {
  %r = relay.if %c -> tensor<4xf32> {
    %false = relay.constant dense<false> : tensor<i1>
    %inner = relay.if %false -> tensor<4xf32> {
      relay.yield %x : tensor<4xf32>
    } else {
      %n = relay.negative %x : tensor<4xf32>
      relay.yield %n : tensor<4xf32>
    }
    relay.yield %inner : tensor<4xf32>
  } else {
    relay.yield %x : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// The branch says more of its type than the choice: what reads the choice would have another one.
// CHECK-LABEL: func.func @open
// CHECK:         relay.if
func.func @open(%x: tensor<4xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %true = relay.constant dense<true> : tensor<i1>
  %r = relay.if %true -> tensor<?xf32> {
    relay.yield %x : tensor<4xf32>
  } else {
    relay.yield %y : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}
