// RUN: opt-tool --input-format=fx %s | filecheck %s
// A counter that the graph itself makes is known of each trip: three trips in place, and no loop.

class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[2, 4]"):
        zeros: "i64[]" = torch.ops.aten.zeros.default([], dtype = torch.int64)
        while_cond = self.while_cond
        while_body = self.while_body
        loop = torch.ops.higher_order.while_loop(while_cond, while_body, (zeros, x), ())
        getitem_1: "f32[2, 4]" = loop[1];  loop = None
        return (getitem_1,)

    class while_cond(torch.nn.Module):
        def forward(self, arg0: "i64[]", arg1: "f32[2, 4]"):
            lt: "b8[]" = torch.ops.aten.lt.Scalar(arg0, 3);  arg0 = None
            return lt

    class while_body(torch.nn.Module):
        def forward(self, arg0: "i64[]", arg1: "f32[2, 4]"):
            add: "i64[]" = torch.ops.aten.add.Tensor(arg0, 1);  arg0 = None
            sin: "f32[2, 4]" = torch.ops.aten.sin.default(arg1);  arg1 = None
            return (add, sin)

// CHECK-NOT:     relay.fn
// CHECK-COUNT-3: relay.sin
// CHECK-NOT:     relay.sin
// CHECK:         func.return
