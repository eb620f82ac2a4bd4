// RUN: opt-tool %s -p relay-fuse-ops,relay-to-te | filecheck %s
// What the elements of each op are. Of one with many steps the stages are shown.

func.func @nn_gru(%0: tensor<2x2x9xf64>, %1: tensor<2x3x3xf64>, %2: tensor<1x3x3xf64>, %3: tensor<2x3xf64>) -> (tensor<2x2x3xf64>, tensor<2x3xf64>) {
  %4, %5 = relay.nn.gru %0, %1, %2, %3 : (tensor<2x2x9xf64>, tensor<2x3x3xf64>, tensor<1x3x3xf64>, tensor<2x3xf64>) -> (tensor<2x2x3xf64>, tensor<2x3xf64>)
  func.return %4, %5 : tensor<2x2x3xf64>, tensor<2x3xf64>
}
// CHECK:      te.func @fused_nn_gru(%p0: tensor<2x2x9xf64>, %p1: tensor<2x3x3xf64>, %p2: tensor<1x3x3xf64>, %p3: tensor<2x3xf64>) -> (tensor<2x2x3xf64>, tensor<2x3xf64>) {
// CHECK:      %first = te.compute "first" [1, 2, 3] (%i0, %b, %j) : tensor<1x2x3xf64> attributes {tag = "nn.gru"} {
// CHECK:      %steps = te.scan "steps" [3] (%t) (%steps_state = %first) : (tensor<1x2x3xf64>) -> tensor<3x2x3xf64> attributes {tag = "nn.gru"} {
// CHECK:      %gates = te.compute "gates" [2, 2, 3] sum [3] (%b, %g, %j, %k) : tensor<2x2x3xf64> {
// CHECK:      %reset_v0, %reset_v1 = te.compute "reset" [2, 3] (%b, %j) : tensor<2x3xf64>, tensor<2x3xf64> {
// CHECK:      %new_gates = te.compute "new_gates" [2, 1, 3] sum [3] (%b, %g, %j, %k) : tensor<2x1x3xf64> {
// CHECK:      %state = te.compute "state" [2, 3] (%b, %j) : tensor<2x3xf64> {
// CHECK:      %output = te.compute "output" [2, 2, 3] (%t, %b, %j) : tensor<2x2x3xf64> attributes {tag = "nn.gru"} {
// CHECK:      %last = te.compute "last" [2, 3] (%b, %j) : tensor<2x3xf64> attributes {tag = "nn.gru"} {
// CHECK:      te.return %output, %last : tensor<2x2x3xf64>, tensor<2x3xf64>

func.func @nn_lstm(%0: tensor<2x2x12xf64>, %1: tensor<4x3x3xf64>, %2: tensor<2x3xf64>, %3: tensor<2x3xf64>) -> (tensor<2x2x3xf64>, tensor<2x3xf64>, tensor<2x3xf64>) {
  %4, %5, %6 = relay.nn.lstm %0, %1, %2, %3 : (tensor<2x2x12xf64>, tensor<4x3x3xf64>, tensor<2x3xf64>, tensor<2x3xf64>) -> (tensor<2x2x3xf64>, tensor<2x3xf64>, tensor<2x3xf64>)
  func.return %4, %5, %6 : tensor<2x2x3xf64>, tensor<2x3xf64>, tensor<2x3xf64>
}
// CHECK:      te.func @fused_nn_lstm(%p0: tensor<2x2x12xf64>, %p1: tensor<4x3x3xf64>, %p2: tensor<2x3xf64>, %p3: tensor<2x3xf64>) -> (tensor<2x2x3xf64>, tensor<2x3xf64>, tensor<2x3xf64>) {
// CHECK:      %first = te.compute "first" [1, 2, 3] (%i0, %b, %j) : tensor<1x2x3xf64> attributes {tag = "nn.lstm"} {
// CHECK:      %first_1 = te.compute "first_1" [1, 2, 3] (%i0, %b, %j) : tensor<1x2x3xf64> attributes {tag = "nn.lstm"} {
// CHECK:      %steps_v0, %steps_v1 = te.scan "steps" [3] (%t) (%steps_state0 = %first, %steps_state1 = %first_1) : (tensor<1x2x3xf64>, tensor<1x2x3xf64>) -> (tensor<3x2x3xf64>, tensor<3x2x3xf64>) attributes {tag = "nn.lstm"} {
// CHECK:      %gates = te.compute "gates" [2, 4, 3] sum [3] (%b, %g, %j, %k) : tensor<2x4x3xf64> {
// CHECK:      %state_v0, %state_v1 = te.compute "state" [2, 3] (%b, %j) : tensor<2x3xf64>, tensor<2x3xf64> {
// CHECK:      %output = te.compute "output" [2, 2, 3] (%t, %b, %j) : tensor<2x2x3xf64> attributes {tag = "nn.lstm"} {
// CHECK:      %last = te.compute "last" [2, 3] (%b, %j) : tensor<2x3xf64> attributes {tag = "nn.lstm"} {
// CHECK:      %last_1 = te.compute "last_1" [2, 3] (%b, %j) : tensor<2x3xf64> attributes {tag = "nn.lstm"} {
// CHECK:      te.return %output, %last, %last_1 : tensor<2x2x3xf64>, tensor<2x3xf64>, tensor<2x3xf64>

func.func @nn_rnn(%0: tensor<2x2x3xf32>, %1: tensor<1x3x3xf32>, %2: tensor<2x3xf32>) -> (tensor<2x2x3xf32>, tensor<2x3xf32>) {
  %3, %4 = relay.nn.rnn %0, %1, %2 {activations = "affine(0.5, 0.25)"} : (tensor<2x2x3xf32>, tensor<1x3x3xf32>, tensor<2x3xf32>) -> (tensor<2x2x3xf32>, tensor<2x3xf32>)
  func.return %3, %4 : tensor<2x2x3xf32>, tensor<2x3xf32>
}
// CHECK:      te.func @fused_nn_rnn(%p0: tensor<2x2x3xf32>, %p1: tensor<1x3x3xf32>, %p2: tensor<2x3xf32>) -> (tensor<2x2x3xf32>, tensor<2x3xf32>) {
// CHECK:      %first = te.compute "first" [1, 2, 3] (%i0, %b, %j) : tensor<1x2x3xf32> attributes {tag = "nn.rnn"} {
// CHECK:      %steps = te.scan "steps" [3] (%t) (%steps_state = %first) : (tensor<1x2x3xf32>) -> tensor<3x2x3xf32> attributes {tag = "nn.rnn"} {
// CHECK:      %gates = te.compute "gates" [2, 1, 3] sum [3] (%b, %g, %j, %k) : tensor<2x1x3xf32> {
// CHECK:      %state = te.compute "state" [2, 3] (%b, %j) : tensor<2x3xf32> {
// CHECK:      %output = te.compute "output" [2, 2, 3] (%t, %b, %j) : tensor<2x2x3xf32> attributes {tag = "nn.rnn"} {
// CHECK:      %last = te.compute "last" [2, 3] (%b, %j) : tensor<2x3xf32> attributes {tag = "nn.rnn"} {
// CHECK:      te.return %output, %last : tensor<2x2x3xf32>, tensor<2x3xf32>
