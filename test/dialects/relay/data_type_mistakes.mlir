// RUN: opt-tool %s --split-input-file --verify-diagnostics
// Declarations and cases that make no sense, and cases that leave values out.

// expected-error@+1 {{@List has no type parameter B}}
relay.type @List<A> { Nil, Cons(!relay.var<B>, !relay.adt<@List, !relay.var<A>>) }
// -----
// expected-error@+1 {{the constructor Nil is declared twice}}
relay.type @List<A> { Nil, Nil }
// -----
// expected-error@+1 {{there is no data type @Tree in the module}}
relay.type @List<A> { Nil, Cons(!relay.adt<@Tree>) }
// -----
// expected-error@+1 {{@List has 1 type parameters, !relay.adt<@List> gives another number}}
relay.type @List<A> { Nil, Cons(!relay.adt<@List>) }
// -----
relay.type @List<A> { Nil, Cons(!relay.var<A>, !relay.adt<@List, !relay.var<A>>) }
func.func @f(%x: tensor<f32>) -> tensor<f32> {
  // expected-error@+1 {{the constructor Cons takes tensor<f32>, !relay.adt<@List, tensor<f32>>, got tensor<f32>}}
  %l = relay.construct Cons(%x) : (tensor<f32>) -> !relay.adt<@List, tensor<f32>>
  return %x : tensor<f32>
}
// -----
relay.type @List<A> { Nil, Cons(!relay.var<A>, !relay.adt<@List, !relay.var<A>>) }
func.func @f(%x: tensor<f32>) -> tensor<f32> {
  // expected-error@+1 {{@List has no constructor Con; it has Nil, Cons}}
  %l = relay.construct Con(%x) : (tensor<f32>) -> !relay.adt<@List, tensor<f32>>
  return %x : tensor<f32>
}
// -----
relay.type @List<A> { Nil, Cons(!relay.var<A>, !relay.adt<@List, !relay.var<A>>) }
func.func @f(%x: tensor<f32>, %l: !relay.adt<@List, tensor<f32>>) -> tensor<f32> {
  // expected-error@+1 {{no case fits Cons(_, Cons(_, Cons(_, _))); add one, or say `partial`}}
  %y = relay.match %l : !relay.adt<@List, tensor<f32>> -> tensor<f32> {
    case Nil { relay.yield %x : tensor<f32> }
    case Cons(%a: tensor<f32>, Nil) { relay.yield %a : tensor<f32> }
    case Cons(_, Cons(%b: tensor<f32>, Nil)) { relay.yield %b : tensor<f32> }
  }
  return %y : tensor<f32>
}
// -----
relay.type @Flag { Off, On }
func.func @f(%x: tensor<f32>, %t: tuple<!relay.adt<@Flag>, !relay.adt<@Flag>>) -> tensor<f32> {
  // expected-error@+1 {{no case fits (On, Off); add one}}
  %y = relay.match %t : tuple<!relay.adt<@Flag>, !relay.adt<@Flag>> -> tensor<f32> {
    case (_, On) { relay.yield %x : tensor<f32> }
    case (Off, _) { relay.yield %x : tensor<f32> }
  }
  return %y : tensor<f32>
}
// -----
relay.type @Flag { Off, On }
func.func @f(%x: tensor<f32>, %t: !relay.adt<@Flag>) -> tensor<f32> {
  // expected-error@+1 {{the pattern On(_) has 1 fields for On, which has 0 fields}}
  %y = relay.match %t : !relay.adt<@Flag> -> tensor<f32> {
    case On(_) { relay.yield %x : tensor<f32> }
    case _ { relay.yield %x : tensor<f32> }
  }
  return %y : tensor<f32>
}
// -----
relay.type @Flag { Off, On }
func.func @f(%x: tensor<f32>, %t: !relay.adt<@Flag>) -> tensor<f32> {
  // expected-error@+1 {{the variables of % are !relay.adt<@Flag>, not tensor<f32>}}
  %y = relay.match %t : !relay.adt<@Flag> -> tensor<f32> {
    case %v: tensor<f32> { relay.yield %v : tensor<f32> }
  }
  return %y : tensor<f32>
}
// -----
relay.type @Flag { Off, On }
func.func @f(%x: tensor<f32>, %t: !relay.adt<@Flag>) -> tensor<f32> {
  // expected-error@+1 {{case On yields nothing, expected tensor<f32>}}
  %y = relay.match %t : !relay.adt<@Flag> -> tensor<f32> {
    case On { relay.yield }
    case Off { relay.yield %x : tensor<f32> }
  }
  return %y : tensor<f32>
}
