// RUN: opt-tool --input-format=fx %s | filecheck %s
// torch's while_loop is a function that calls itself; what no trip changes is captured.

class GraphModule(torch.nn.Module):
    def forward(self, w: "f32[4, 4]", n: "i64[]", x: "f32[2, 4]"):
        while_cond = self.while_cond
        while_body = self.while_body
        loop = torch.ops.higher_order.while_loop(while_cond, while_body, (n, x), (w,));  n = x = w = None
        getitem_1: "f32[2, 4]" = loop[1];  loop = None
        return (getitem_1,)

    class while_cond(torch.nn.Module):
        def forward(self, arg0: "i64[]", arg1: "f32[2, 4]", arg2: "f32[4, 4]"):
            gt: "b8[]" = torch.ops.aten.gt.Scalar(arg0, 0);  arg0 = None
            return gt

    class while_body(torch.nn.Module):
        def forward(self, arg0: "i64[]", arg1: "f32[2, 4]", arg2: "f32[4, 4]"):
            sub: "i64[]" = torch.ops.aten.sub.Tensor(arg0, 1);  arg0 = None
            linear: "f32[2, 4]" = torch.ops.aten.linear.default(arg1, arg2);  arg1 = arg2 = None
            return (sub, linear)

// CHECK:      %loop = relay.fn captures(%[[W:.*]] = %w : tensor<4x4xf32>) self %self (%[[N:.*]]: tensor<i64>, %[[X:.*]]: tensor<2x4xf32>)
// CHECK:        %gt = relay.greater %[[N]], %{{.*}}
// CHECK:        relay.if %gt
// CHECK-NEXT:     %sub = relay.subtract %[[N]], %{{.*}}
// CHECK-NEXT:     %linear = relay.nn.dense %[[X]], %[[W]]
// CHECK-NEXT:     relay.call %self(%sub, %linear)
// CHECK:        } else {
// CHECK-NEXT:     relay.yield %[[N]], %[[X]]
// CHECK:      relay.call %loop(%n, %x)
// CHECK-NEXT: func.return
