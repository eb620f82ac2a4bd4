// RUN: opt-tool -f relay-text %s | filecheck %s
// The free variables of an expression are the parameters of @main.

free_var %x: Tensor[(2, 3), float32];
%0 = nn.relu(%x);
(%0, %0 + 1f)

// CHECK:      func.func @main(%x: tensor<2x3xf32> {lamina.name = "x"}) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
// CHECK:        relay.nn.relu %x
// CHECK:        relay.add
