// RUN: opt-tool %s --verify-roundtrip | filecheck %s
// The text of declarations, constructors and cases, nested and partial.

// CHECK:      relay.type @Tree<A, B> {
// CHECK-NEXT:   Leaf(!relay.var<A>),
// CHECK-NEXT:   Node(!relay.adt<@Tree, !relay.var<A>, !relay.var<B>>, !relay.var<B>)
// CHECK-NEXT: }
relay.type @Tree<A, B> { Leaf(!relay.var<A>), Node(!relay.adt<@Tree, !relay.var<A>, !relay.var<B>>, !relay.var<B>) }
// CHECK-NEXT: relay.type @Flag {
relay.type @Flag { Off, On }

func.func @main(%x: tensor<f32>, %t: tuple<!relay.adt<@Flag>, !relay.adt<@Tree, tensor<f32>, !relay.adt<@Flag>>>) -> tensor<f32> {
  // CHECK: %on = relay.construct On() : () -> !relay.adt<@Flag>
  %on = relay.construct On() : () -> !relay.adt<@Flag>
  // CHECK: %leaf = relay.construct Leaf(%x) : (tensor<f32>) -> !relay.adt<@Tree, tensor<f32>, !relay.adt<@Flag>>
  %leaf = relay.construct Leaf(%x) : (tensor<f32>) -> !relay.adt<@Tree, tensor<f32>, !relay.adt<@Flag>>
  // CHECK: %r = relay.match %t : tuple<!relay.adt<@Flag>, !relay.adt<@Tree, tensor<f32>, !relay.adt<@Flag>>> -> tensor<f32> {
  %r = relay.match %t : tuple<!relay.adt<@Flag>, !relay.adt<@Tree, tensor<f32>, !relay.adt<@Flag>>> -> tensor<f32> {
    // CHECK-NEXT: case (On, Leaf(%v: tensor<f32>)) {
    case (On, Leaf(%v: tensor<f32>)) {
      relay.yield %v : tensor<f32>
    }
    // CHECK: case (_, Node(Leaf(%w: tensor<f32>), Off)) {
    case (_, Node(Leaf(%w: tensor<f32>), Off)) {
      relay.yield %w : tensor<f32>
    }
    // CHECK: case _ {
    case _ {
      relay.yield %x : tensor<f32>
    }
  }
  // CHECK: relay.match partial %on : !relay.adt<@Flag> {
  relay.match partial %on : !relay.adt<@Flag> {
    case On {
      relay.yield
    }
  }
  return %r : tensor<f32>
}
