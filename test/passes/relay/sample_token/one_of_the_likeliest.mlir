// RUN: opt-tool %s -p 'relay-sample-token{logits=scores top-k=4 temperature=0.5 seed=7}' | filecheck %s

// CHECK:      func.func @main(%logits: tensor<2x50xf32> {lamina.name = "logits"}, %token_key: tensor<10xui64> {lamina.name = "token_key"}) ->
// CHECK-SAME: (tensor<2x50xf32> {lamina.name = "scores"}, tensor<2x1xi64> {lamina.name = "token"}, tensor<10xui64> {lamina.name = "token_key:next"})
// CHECK-SAME: lamina.state = [{input = "token_key", output = "token_key:next", initial = dense<[7, 0, 0, 0, 0, 0, 0, 0, 9223372036854775808, 0]> : tensor<10xui64>}]
// CHECK:        relay.topk {{.*}} {axis = 2, {{.*}}k = 4
// CHECK:        relay.constant dense<2.0{{.*}}>
// CHECK:        relay.nn.softmax
// CHECK-NEXT:   relay.cumsum
// CHECK:        relay.random.uniform %token_key
// CHECK:        relay.less_equal
// CHECK:        relay.minimum
// CHECK:        relay.gather
builtin.module {
  func.func @main(%logits: tensor<2x50xf32> {lamina.name = "logits"}) -> (tensor<2x50xf32> {lamina.name = "scores"}) {
    %scores = relay.tanh %logits : tensor<2x50xf32>
    func.return %scores : tensor<2x50xf32>
  }
}
