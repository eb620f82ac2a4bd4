// RUN: opt-tool %s --verify-roundtrip --run @main | filecheck %s
// A list is built, mapped and folded; a cell is written by the fold; nested patterns look two elements deep.

// CHECK: doubled: Cons(2., Cons(4., Cons(6., Nil)))
// CHECK: sum: float32[]
// CHECK-NEXT: 12.
// CHECK: second: Some(4.)
// CHECK: cell: float32[]
// CHECK-NEXT: 6.
relay.type @List<A> { Nil, Cons(!relay.var<A>, !relay.adt<@List, !relay.var<A>>) }
relay.type @Option<A> { None, Some(!relay.var<A>) }

func.func @double(%l: !relay.adt<@List, tensor<f32>>) -> !relay.adt<@List, tensor<f32>> {
  %r = relay.match %l : !relay.adt<@List, tensor<f32>> -> !relay.adt<@List, tensor<f32>> {
    case Cons(%h: tensor<f32>, %t: !relay.adt<@List, tensor<f32>>) {
      %two = relay.constant dense<2.0> : tensor<f32>
      %d = relay.multiply %h, %two : tensor<f32>
      %rest = func.call @double(%t) : (!relay.adt<@List, tensor<f32>>) -> !relay.adt<@List, tensor<f32>>
      %made = relay.construct Cons(%d, %rest) : (tensor<f32>, !relay.adt<@List, tensor<f32>>) -> !relay.adt<@List, tensor<f32>>
      relay.yield %made : !relay.adt<@List, tensor<f32>>
    }
    case Nil {
      relay.yield %l : !relay.adt<@List, tensor<f32>>
    }
  }
  return %r : !relay.adt<@List, tensor<f32>>
}
func.func @fold(%l: !relay.adt<@List, tensor<f32>>, %sum: tensor<f32>, %last: !relay.ref<tensor<f32>>) -> tensor<f32> {
  %r = relay.match %l : !relay.adt<@List, tensor<f32>> -> tensor<f32> {
    case Cons(%h: tensor<f32>, %t: !relay.adt<@List, tensor<f32>>) {
      %s = relay.add %sum, %h : tensor<f32>
      relay.ref_write %last, %h : tensor<f32>
      %all = func.call @fold(%t, %s, %last) : (!relay.adt<@List, tensor<f32>>, tensor<f32>, !relay.ref<tensor<f32>>) -> tensor<f32>
      relay.yield %all : tensor<f32>
    }
    case _ {
      relay.yield %sum : tensor<f32>
    }
  }
  return %r : tensor<f32>
}
func.func @main() -> (!relay.adt<@List, tensor<f32>> {lamina.name = "doubled"}, tensor<f32> {lamina.name = "sum"}, !relay.adt<@Option, tensor<f32>> {lamina.name = "second"}, tensor<f32> {lamina.name = "cell"}) {
  %one = relay.constant dense<1.0> : tensor<f32>
  %two = relay.constant dense<2.0> : tensor<f32>
  %three = relay.constant dense<3.0> : tensor<f32>
  %nil = relay.construct Nil() : () -> !relay.adt<@List, tensor<f32>>
  %c = relay.construct Cons(%three, %nil) : (tensor<f32>, !relay.adt<@List, tensor<f32>>) -> !relay.adt<@List, tensor<f32>>
  %b = relay.construct Cons(%two, %c) : (tensor<f32>, !relay.adt<@List, tensor<f32>>) -> !relay.adt<@List, tensor<f32>>
  %a = relay.construct Cons(%one, %b) : (tensor<f32>, !relay.adt<@List, tensor<f32>>) -> !relay.adt<@List, tensor<f32>>
  %doubled = func.call @double(%a) : (!relay.adt<@List, tensor<f32>>) -> !relay.adt<@List, tensor<f32>>
  %last = relay.ref_create %one : tensor<f32>
  %zero = relay.constant dense<0.0> : tensor<f32>
  %sum = func.call @fold(%doubled, %zero, %last) : (!relay.adt<@List, tensor<f32>>, tensor<f32>, !relay.ref<tensor<f32>>) -> tensor<f32>
  %second = relay.match %doubled : !relay.adt<@List, tensor<f32>> -> !relay.adt<@Option, tensor<f32>> {
    case Cons(_, Cons(%x: tensor<f32>, _)) {
      %some = relay.construct Some(%x) : (tensor<f32>) -> !relay.adt<@Option, tensor<f32>>
      relay.yield %some : !relay.adt<@Option, tensor<f32>>
    }
    case _ {
      %none = relay.construct None() : () -> !relay.adt<@Option, tensor<f32>>
      relay.yield %none : !relay.adt<@Option, tensor<f32>>
    }
  }
  %cell = relay.ref_read %last : !relay.ref<tensor<f32>>
  return %doubled, %sum, %second, %cell : !relay.adt<@List, tensor<f32>>, tensor<f32>, !relay.adt<@Option, tensor<f32>>, tensor<f32>
}
