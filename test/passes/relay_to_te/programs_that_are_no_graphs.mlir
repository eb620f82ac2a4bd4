// RUN: opt-tool %s -p relay-fuse-ops,relay-to-te --split-input-file --verify-diagnostics
// Control flow, closures and unknown extents are for the virtual machine.

func.func @main(%x: tensor<4xf32>, %c: tensor<i1>) -> tensor<4xf32> {
  // expected-error@+1 {{relay-to-te: relay.if is no tensor op; run the module by lamina.vm.vm}}
  %r = relay.if %c -> tensor<4xf32> {
    relay.yield %x : tensor<4xf32>
  } else {
    relay.yield %x : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
// -----
// expected-error@+1 {{relay-to-te: @main has an argument whose extents are unknown}}
func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = relay.exp %x : tensor<?xf32>
  return %0 : tensor<?xf32>
}
// -----
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{relay-to-te: relay.fn is a closure}}
  %f = relay.fn captures(%k = %x : tensor<4xf32>) (%y: tensor<4xf32>) -> tensor<4xf32> {
    relay.return %k : tensor<4xf32>
  }
  %0 = relay.call %f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// -----
func.func @main(%s: tensor<1xi32>) -> tensor<?xf32> {
  // expected-error@+1 {{relay-to-te: relay.dyn.zeros has results whose shapes depend on values}}
  %0 = relay.dyn.zeros %s : (tensor<1xi32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
