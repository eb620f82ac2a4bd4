// RUN: not opt-tool --input-format=fx %s 2>&1 | filecheck %s

class GraphModule(torch.nn.Module):
    def forward(self, flag: "b8[]", x: "f32[4]"):
        first = self.first
        second = self.second
        cond = torch.ops.higher_order.cond(flag, first, second, (x,));  flag = x = None
        getitem = cond[0];  cond = None
        return (getitem,)

    class first(torch.nn.Module):
        def forward(self, x: "f32[4]"):
            sin: "f32[4]" = torch.ops.aten.sin.default(x)
            return (sin,)

    class second(torch.nn.Module):
        def forward(self, x: "f32[4]"):
            total: "f32[]" = torch.ops.aten.sum.default(x)
            return (total,)

// CHECK: higher_order.cond: error: one branch gives float32[4], the other float32[]; change the model
