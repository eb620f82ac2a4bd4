// RUN: opt-tool -f relay-text %s | filecheck %s
// A function with type parameters is one for the types that it is used with.

type List[A] { Cons(A, List[A]), Nil }

def @head[A](%l: List[A], %d: A) -> A {
  match (%l) { Cons(%h, _) => %h, Nil => %d }
}

def @main(%x: Tensor[(4), float32]) -> Tensor[(4), float32] {
  let %l = Cons(%x, Nil);
  @head(%l, %x)
}

// CHECK: relay.type @List
// CHECK: func.func @main
// CHECK: func.call @head
// CHECK: func.func @head(%l: !relay.adt<@List, tensor<4xf32>>, %d: tensor<4xf32>
// CHECK: relay.match
