// RUN: opt-tool %s --split-input-file --verify-diagnostics
// What a user of functions, tuples, choices and cells gets wrong.

func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{the body takes tensor<8xf32>, expected tensor<8xf32>, tensor<8xf32>: a parameter for each capture}}
  %f = "relay.fn"(%x) ({
  ^bb0(%y: tensor<8xf32>):
    relay.return %y : tensor<8xf32>
  }) : (tensor<8xf32>) -> ((tensor<8xf32>) -> tensor<8xf32>)
  return %x : tensor<8xf32>
}
// -----
// expected-note@+1 {{%x is an argument of a block of this op}}
func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  %f = relay.fn (%y: tensor<8xf32>) -> tensor<8xf32> {
    // expected-error@+1 {{%x) is defined outside relay.fn, which is isolated from above}}
    %0 = relay.add %y, %x : tensor<8xf32>
    relay.return %0 : tensor<8xf32>
  }
  return %x : tensor<8xf32>
}
// -----
func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  %f = relay.fn (%y: tensor<4xf32>) -> tensor<4xf32> {
    relay.return %y : tensor<4xf32>
  }
  // expected-error@+1 {{the arguments do not fit the callee (tensor<4xf32>) -> tensor<4xf32>}}
  %0 = relay.call %f(%x) : (tensor<4xf32>) -> tensor<4xf32> of (tensor<8xf32>)
  return %x : tensor<8xf32>
}
// -----
func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{there is no function @g in the module}}
  %g = relay.global @g : (tensor<8xf32>) -> tensor<8xf32>
  return %x : tensor<8xf32>
}
// -----
func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{@f is of type (tensor<8xf32>) -> tensor<8xf32>, not () -> tensor<8xf32>}}
  %g = relay.global @f : () -> tensor<8xf32>
  return %x : tensor<8xf32>
}
// -----
func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  %t = relay.tuple(%x) : tuple<tensor<8xf32>>
  // expected-error@+1 {{no field 1 in a tuple of 1}}
  %y = relay.tuple_get_item %t[1] : tuple<tensor<8xf32>>
  return %x : tensor<8xf32>
}
// -----
func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{expected a tuple type, got tensor<8xf32>}}
  %y = relay.tuple_get_item %x[0] : tensor<8xf32>
  return %x : tensor<8xf32>
}
// -----
func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{2 fields for tuple<tensor<8xf32>>}}
  %y = relay.tuple(%x, %x) : tuple<tensor<8xf32>>
  return %x : tensor<8xf32>
}
// -----
func.func @f(%x: tensor<8xf32>, %c: tensor<1xi1>) -> tensor<8xf32> {
  // expected-error@+1 {{the condition is one truth value, tensor<i1>, not tensor<1xi1>}}
  %y = "relay.if"(%c) ({
    relay.yield %x : tensor<8xf32>
  }, {
    relay.yield %x : tensor<8xf32>
  }) : (tensor<1xi1>) -> tensor<8xf32>
  return %x : tensor<8xf32>
}
// -----
func.func @f(%x: tensor<8xf32>, %z: tensor<4xf32>, %c: tensor<i1>) -> tensor<8xf32> {
  // expected-error@+1 {{the second region yields tensor<4xf32>, expected tensor<8xf32>}}
  %y = relay.if %c -> tensor<8xf32> {
    relay.yield %x : tensor<8xf32>
  } else {
    relay.yield %z : tensor<4xf32>
  }
  return %y : tensor<8xf32>
}
// -----
func.func @f(%x: tensor<8xf32>, %c: tensor<i1>) -> tensor<8xf32> {
  // expected-error@+1 {{the first region does not end in relay.yield}}
  %y = relay.if %c -> tensor<8xf32> {
    relay.return %x : tensor<8xf32>
  } else {
    relay.yield %x : tensor<8xf32>
  }
  return %y : tensor<8xf32>
}
// -----
func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{ends a region of relay.if or relay.match, not of func.func}}
  relay.yield %x : tensor<8xf32>
}
// -----
func.func @f(%r: !relay.ref<tensor<8xf32>>, %x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{a cell of tensor<8xf32> does not hold a tensor<4xf32>}}
  "relay.ref_write"(%r, %x) : (!relay.ref<tensor<8xf32>>, tensor<4xf32>) -> ()
  return %x : tensor<4xf32>
}
// -----
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{expected the type of a cell, got tensor<4xf32>}}
  %y = relay.ref_read %x : tensor<4xf32>
  return %x : tensor<4xf32>
}
