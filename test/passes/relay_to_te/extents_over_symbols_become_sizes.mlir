// RUN: opt-tool %s -p relay-fuse-ops,relay-to-te | filecheck %s

// CHECK:      te.func @fused_nn_relu(%n: index, %p0: tensor<?x8xf32> {te.shape = #te.map<(d0) -> (d0, 8)>}) -> tensor<?x8xf32>
// CHECK-NEXT:   %{{.*}} = te.compute "relu" [%n, 8] (%i0, %i1) : tensor<?x8xf32>
// CHECK:      te.func @fused_concatenate(%n: index, %m: index, %p0: tensor<?x8xf32> {te.shape = #te.map<(d0, d1) -> (d0, 8)>}, %p1: tensor<?x8xf32> {te.shape = #te.map<(d0, d1) -> (d1, 8)>}) -> tensor<?x8xf32>
// CHECK-NEXT:   %{{.*}} = te.compute "concatenate" [%n + %m, 8]
// CHECK:      func.func @main(%n: index {lamina.name = "n", te.range = array<i64: 1, 64, 1>}, %m: index {lamina.name = "m", te.range = array<i64: 0, 9, 1>}, %x: tensor<?x8xf32> {te.shape = #te.map<(d0, d1) -> (d0, 8)>}, %y: tensor<?x8xf32> {te.shape = #te.map<(d0, d1) -> (d1, 8)>}) -> (tensor<?x8xf32> {te.shape = #te.map<(d0, d1) -> (d1 + d0, 8)>})
// CHECK-NEXT:   %{{.*}} = te.call @fused_nn_relu(%n, %x) : (index, tensor<?x8xf32>) -> tensor<?x8xf32>
// CHECK-NEXT:   %{{.*}} = te.call @fused_concatenate(%n, %m, %{{.*}}, %y)
builtin.module attributes {relay.symbols = {n = #relay.symbol<min = 1, max = 64>, m = #relay.symbol<min = 0, max = 9>}} {
  func.func @main(%x: tensor<?x8xf32, #relay.dims<n, _>>, %y: tensor<?x8xf32, #relay.dims<m, _>>) -> tensor<?x8xf32, #relay.dims<m + n, _>> {
    %0 = relay.nn.relu %x : tensor<?x8xf32, #relay.dims<n, _>>
    %1 = relay.annotation.stop_fusion %0 : tensor<?x8xf32, #relay.dims<n, _>>
    %2 = relay.concatenate %1, %y {axis = 0} : (tensor<?x8xf32, #relay.dims<n, _>>, tensor<?x8xf32, #relay.dims<m, _>>) -> tensor<?x8xf32, #relay.dims<m + n, _>>
    func.return %2 : tensor<?x8xf32, #relay.dims<m + n, _>>
  }
}
