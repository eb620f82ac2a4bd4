// RUN: opt-tool %s --verify-roundtrip | filecheck %s
// The text of functions, tuples, choices and cells.

// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<8xf32>, %c: tensor<i1>) -> tensor<8xf32> {
  // CHECK: %f = relay.fn captures(%k = %x : tensor<8xf32>) self %me (%y: tensor<8xf32>) -> tensor<8xf32> attributes {Inline = 1 : i64} {
  %f = relay.fn captures(%k = %x : tensor<8xf32>) self %me (%y: tensor<8xf32>) -> tensor<8xf32> attributes {Inline = 1 : i64} {
    %0 = relay.add %y, %k : tensor<8xf32>
    %1 = relay.call %me(%0) : (tensor<8xf32>) -> tensor<8xf32>
    relay.return %1 : tensor<8xf32>
  }
  // CHECK: %g = relay.global @main : (tensor<8xf32>, tensor<i1>) -> tensor<8xf32>
  %g = relay.global @main : (tensor<8xf32>, tensor<i1>) -> tensor<8xf32>
  // CHECK: %t = relay.tuple(%x, %f) : tuple<tensor<8xf32>, (tensor<8xf32>) -> tensor<8xf32>>
  %t = relay.tuple(%x, %f) : tuple<tensor<8xf32>, (tensor<8xf32>) -> tensor<8xf32>>
  // CHECK: %h = relay.tuple_get_item %t[1] : tuple<
  %h = relay.tuple_get_item %t[1] : tuple<tensor<8xf32>, (tensor<8xf32>) -> tensor<8xf32>>
  // CHECK: relay.tuple() : tuple<>
  %unit = relay.tuple() : tuple<>
  // CHECK: %r, %s = relay.if %c -> (tensor<8xf32>, tensor<i1>) {
  %r, %s = relay.if %c -> (tensor<8xf32>, tensor<i1>) {
    %w = relay.call %h(%x) : (tensor<8xf32>) -> tensor<8xf32>
    relay.yield %w, %c : tensor<8xf32>, tensor<i1>
  // CHECK: } else {
  } else {
    relay.yield %x, %c : tensor<8xf32>, tensor<i1>
  }
  // CHECK: %cell = relay.ref_create %r : tensor<8xf32>
  %cell = relay.ref_create %r : tensor<8xf32>
  // CHECK: relay.if %s {
  relay.if %s {
    // CHECK-NEXT: relay.ref_write %cell, %x : tensor<8xf32>
    relay.ref_write %cell, %x : tensor<8xf32>
    relay.yield
  } else {
    relay.yield
  }
  // CHECK: relay.ref_read %cell : !relay.ref<tensor<8xf32>>
  %v = relay.ref_read %cell : !relay.ref<tensor<8xf32>>
  return %v : tensor<8xf32>
}

// CHECK-LABEL: func.func @open
func.func @open(%x: tensor<?x3xf32, #relay.dims<n, _>>, %y: tensor<4xf32>) -> tensor<?xf32> {
  // CHECK: relay.nn.relu %x : tensor<?x3xf32, #relay.dims<n, _>>
  %r = relay.nn.relu %x : tensor<?x3xf32, #relay.dims<n, _>>
  %f = relay.fn (%z: tensor<?xf32>) -> tensor<?xf32> {
    relay.return %z : tensor<?xf32>
  }
  // CHECK: relay.call %f(%y) : (tensor<?xf32>) -> tensor<?xf32> of (tensor<4xf32>)
  %v = relay.call %f(%y) : (tensor<?xf32>) -> tensor<?xf32> of (tensor<4xf32>)
  return %v : tensor<?xf32>
}
