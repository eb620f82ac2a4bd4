// RUN: opt-tool %s -p cpu-transpose-factors | filecheck %s
// Queries of `s` rows, of which there may be one, with the keys of a past of `p` rows as well: moving all these would take
// as long as the product. Keys of the same rows are as few as the queries, and no less than eight queries are many.

// CHECK:      %a = relay.nn.batch_matmul %q, %k :
// CHECK-NEXT: relay.transpose %l
// CHECK-NEXT: %b = relay.nn.batch_matmul %q, %{{.*}} {transpose_b = false}
// CHECK-NEXT: relay.transpose %k
// CHECK-NEXT: %c = relay.nn.batch_matmul %m, %{{.*}} {transpose_b = false}
builtin.module attributes {relay.symbols = {s = #relay.symbol<min = 1, max = 512>, p = #relay.symbol<min = 0, max = 960>,
    m = #relay.symbol<min = 8, max = 512>}} {
  func.func @main(%q: tensor<4x?x16xf32, #relay.dims<_, s, _>>, %k: tensor<4x?x16xf32, #relay.dims<_, p + s, _>>,
                  %l: tensor<4x?x16xf32, #relay.dims<_, s, _>>, %m: tensor<4x?x16xf32, #relay.dims<_, m, _>>)
      -> (tensor<4x?x?xf32, #relay.dims<_, s, p + s>>, tensor<4x?x?xf32, #relay.dims<_, s, s>>,
          tensor<4x?x?xf32, #relay.dims<_, m, p + s>>) {
    %a = relay.nn.batch_matmul %q, %k : (tensor<4x?x16xf32, #relay.dims<_, s, _>>,
      tensor<4x?x16xf32, #relay.dims<_, p + s, _>>) -> tensor<4x?x?xf32, #relay.dims<_, s, p + s>>
    %b = relay.nn.batch_matmul %q, %l : (tensor<4x?x16xf32, #relay.dims<_, s, _>>,
      tensor<4x?x16xf32, #relay.dims<_, s, _>>) -> tensor<4x?x?xf32, #relay.dims<_, s, s>>
    %c = relay.nn.batch_matmul %m, %k : (tensor<4x?x16xf32, #relay.dims<_, m, _>>,
      tensor<4x?x16xf32, #relay.dims<_, p + s, _>>) -> tensor<4x?x?xf32, #relay.dims<_, m, p + s>>
    func.return %a, %b, %c : tensor<4x?x?xf32, #relay.dims<_, s, p + s>>, tensor<4x?x?xf32, #relay.dims<_, s, s>>,
      tensor<4x?x?xf32, #relay.dims<_, m, p + s>>
  }
}
