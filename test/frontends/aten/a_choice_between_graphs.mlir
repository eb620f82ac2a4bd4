// RUN: opt-tool --input-format=fx %s | filecheck %s
// torch.cond: the graphs of its module are the ways of relay.if, and see what is around them.

class GraphModule(torch.nn.Module):
    def forward(self, w: "f32[4, 4]", x: "f32[3, 4]"):
        total: "f32[]" = torch.ops.aten.sum.default(x)
        gt: "b8[]" = torch.ops.aten.gt.Scalar(total, 0);  total = None
        true_graph_0 = self.true_graph_0
        false_graph_0 = self.false_graph_0
        cond = torch.ops.higher_order.cond(gt, true_graph_0, false_graph_0, (x, w));  gt = true_graph_0 = None
        getitem: "f32[3, 4]" = cond[0];  cond = None
        return (getitem,)

    class true_graph_0(torch.nn.Module):
        def forward(self, x: "f32[3, 4]", w: "f32[4, 4]"):
            linear: "f32[3, 4]" = torch.ops.aten.linear.default(x, w, None);  x = w = None
            return (linear,)

    class false_graph_0(torch.nn.Module):
        def forward(self, x: "f32[3, 4]", w: "f32[4, 4]"):
            sin: "f32[3, 4]" = torch.ops.aten.sin.default(x);  x = None
            return (sin,)

// CHECK:      func.func @main(%w: tensor<4x4xf32> {{.*}}, %x: tensor<3x4xf32>
// CHECK:        %gt = relay.greater
// CHECK-NEXT:   %getitem = relay.if %gt -> tensor<3x4xf32> {
// CHECK-NEXT:     %linear = relay.nn.dense %x, %w
// CHECK-NEXT:     relay.yield %linear
// CHECK-NEXT:   } else {
// CHECK-NEXT:     %sin = relay.sin %x
// CHECK-NEXT:     relay.yield %sin
// CHECK-NEXT:   }
// CHECK-NEXT:   func.return %getitem
