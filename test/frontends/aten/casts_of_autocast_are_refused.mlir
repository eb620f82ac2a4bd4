// RUN: not opt-tool --input-format=fx %s 2>&1 | filecheck %s
// Under autocast torch casts inside of its operators; what bodies lack is told beside it.

class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[4, 4]"):
        gt: "b8[]" = torch.ops.aten.any.default(x)
        submod_1 = self.submod_1
        wrap = torch.ops.higher_order.wrap_with_autocast('cpu', torch.bfloat16, True, False, submod_1, x, x)
        getitem: "bf16[4, 4]" = wrap[0];  wrap = None
        body = self.body
        cond = torch.ops.higher_order.cond(gt, body, body, (getitem,));  gt = None
        getitem_1: "bf16[4, 4]" = cond[0];  cond = None
        return (getitem_1,)

    class submod_1(torch.nn.Module):
        def forward(self, x: "f32[4, 4]", w: "f32[4, 4]"):
            linear: "bf16[4, 4]" = torch.ops.aten.linear.default(x, w)
            return (linear,)

    class body(torch.nn.Module):
        def forward(self, x: "bf16[4, 4]"):
            op: "bf16[4, 4]" = torch.ops.mine.op.default(x)
            return (op,)

// CHECK-DAG: higher_order.wrap_with_autocast x1: "wrap" (the casts of autocast are in torch's operators: give exported.run_decompositions({}))
// CHECK-DAG: mine.op.default x1: "op" (no converter)
