// RUN: opt-tool --input-format=fx %s | filecheck %s
// What stands under no_grad is computed in place, regions in regions too; a change in place reaches what is around.

class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[4]"):
        mul: "f32[4]" = torch.ops.aten.mul.Tensor(x, 2)
        submod_1 = self.submod_1
        wrap = torch.ops.higher_order.wrap_with_set_grad_enabled(False, submod_1, mul);  submod_1 = None
        getitem: "f32[4]" = wrap[0];  wrap = None
        add: "f32[4]" = torch.ops.aten.add.Tensor(mul, getitem);  mul = getitem = None
        return (add,)

    class submod_1(torch.nn.Module):
        def forward(self, mul: "f32[4]"):
            add_: "f32[4]" = torch.ops.aten.add_.Tensor(mul, 1);  add_ = None
            submod_2 = self.submod_2
            wrap = torch.ops.higher_order.wrap_with_autocast('cpu', torch.bfloat16, False, False, submod_2, mul)
            getitem: "f32[4]" = wrap[0];  wrap = None
            return (getitem,)

        class submod_2(torch.nn.Module):
            def forward(self, mul: "f32[4]"):
                sin: "f32[4]" = torch.ops.aten.sin.default(mul);  mul = None
                return (sin,)

// CHECK:      %mul = relay.multiply %x,
// CHECK:      %wrap_add = relay.add %mul,
// CHECK-NEXT: %wrap_wrap_sin = relay.sin %wrap_add
// CHECK-NEXT: %add = relay.add %wrap_add, %wrap_wrap_sin
// CHECK-NEXT: func.return %add
