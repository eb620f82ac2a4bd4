// RUN: opt-tool %s -p relay-sample-token | filecheck %s
// RUN: opt-tool %s -p 'relay-sample-token{token=next dtype=int32}' | filecheck %s --check-prefix=NAMED

// CHECK:      func.func @main(%ids: tensor<2x?xi64, #relay.dims<_, s>> {lamina.name = "ids"}) ->
// CHECK-SAME: (tensor<2x?x50xf32, #relay.dims<_, s, _>> {lamina.name = "logits"}, tensor<2x1xi64> {lamina.name = "token"}) {
// CHECK:        %0 = relay.strided_slice %logits {axes = [1], begin = [s - 1], end = [s], strides = [1]} : {{.*}} -> tensor<2x1x50xf32>
// CHECK-NEXT:   %1 = relay.argmax %0 {axis = [2]}
// CHECK-NEXT:   %2 = relay.cast %1 {dtype = "int64"}
// CHECK-NEXT:   func.return %logits, %2
// NAMED:      tensor<2x1xi32> {lamina.name = "next"}
builtin.module attributes {relay.symbols = {s = #relay.symbol<min = 1, max = 64>}} {
  func.func @main(%ids: tensor<2x?xi64, #relay.dims<_, s>> {lamina.name = "ids"})
      -> (tensor<2x?x50xf32, #relay.dims<_, s, _>> {lamina.name = "logits"}) {
    %table = relay.constant #relay.param<"table", "0123456789abcdef"> : tensor<9x50xf32>
    %logits = relay.take %table, %ids {axis = 0} : (tensor<9x50xf32>, tensor<2x?xi64, #relay.dims<_, s>>) -> tensor<2x?x50xf32, #relay.dims<_, s, _>>
    func.return %logits : tensor<2x?x50xf32, #relay.dims<_, s, _>>
  }
}
