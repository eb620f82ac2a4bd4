// RUN: opt-tool --input-format=fx %s | filecheck %s
// So many rows are a loop: the first in place, which tells what rows are made, and the others written one by one.

class GraphModule(torch.nn.Module):
    def forward(self, xs: "f32[5000, 4]", y: "f32[4]"):
        body_graph_0 = self.body_graph_0
        map_impl = torch.ops.higher_order.map_impl(body_graph_0, [xs], [y]);  body_graph_0 = xs = y = None
        getitem: "f32[5000, 4]" = map_impl[0];  map_impl = None
        return (getitem,)

    class body_graph_0(torch.nn.Module):
        def forward(self, xs: "f32[4]", y: "f32[4]"):
            add: "f32[4]" = torch.ops.aten.add.Tensor(xs, y);  xs = y = None
            return (add,)

// CHECK:      %add = relay.add %{{.*}}, %y
// CHECK:      %[[FIRST:.*]] = relay.concatenate %{{.*}} : (tensor<1x4xf32>, tensor<4999x4xf32>) -> tensor<5000x4xf32>
// CHECK-NEXT: %[[ONE:.*]] = relay.constant dense<1> : tensor<i64>
// CHECK-NEXT: %loop = relay.fn {{.*}} self %self (%[[I:.*]]: tensor<i64>, %[[MADE:.*]]: tensor<5000x4xf32>)
// CHECK:        %[[MORE:.*]] = relay.less %[[I]],
// CHECK:        relay.if %[[MORE]]
// CHECK-NEXT:     %[[ROW:.*]] = relay.take %{{.*}}, %[[I]] {axis = 0}
// CHECK-NEXT:     %add_1 = relay.add %[[ROW]], %{{.*}}
// CHECK-NEXT:     %[[HERE:.*]] = relay.equal %{{.*}}, %[[I]]
// CHECK:          %[[NOW:.*]] = relay.where %{{.*}}, %add_1, %[[MADE]]
// CHECK:          relay.call %self(%{{.*}}, %[[NOW]])
// CHECK:      %{{.*}}, %getitem = relay.call %loop(%[[ONE]], %[[FIRST]])
