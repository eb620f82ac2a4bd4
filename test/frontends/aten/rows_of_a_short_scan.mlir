// RUN: opt-tool --input-format=fx %s | filecheck %s
// A scan over two rows: its graph twice, each for a row, and what each makes stacked.

class GraphModule(torch.nn.Module):
    def forward(self, h: "f32[4]", xs: "f32[2, 4]"):
        combine_graph = self.combine_graph
        scan = torch.ops.higher_order.scan(combine_graph, [h], [xs], ());  combine_graph = h = xs = None
        getitem: "f32[4]" = scan[0]
        getitem_1: "f32[2, 4]" = scan[1];  scan = None
        return (getitem, getitem_1)

    class combine_graph(torch.nn.Module):
        def forward(self, arg0: "f32[4]", arg1: "f32[4]"):
            add: "f32[4]" = torch.ops.aten.add.Tensor(arg0, arg1);  arg1 = None
            mul: "f32[4]" = torch.ops.aten.mul.Tensor(arg0, 2);  arg0 = None
            return [add, mul]

// CHECK:      relay.strided_slice %xs {axes = [0], begin = [0], end = [1]
// CHECK:      %add = relay.add %h,
// CHECK:      %mul = relay.multiply %h,
// CHECK:      relay.strided_slice %xs {axes = [0], begin = [1], end = [2]
// CHECK:      %add_1 = relay.add %add,
// CHECK:      %mul_1 = relay.multiply %add,
// CHECK:      %[[A:.*]] = relay.expand_dims %mul {axis = 0}
// CHECK-NEXT: %[[B:.*]] = relay.expand_dims %mul_1 {axis = 0}
// CHECK-NEXT: %getitem = relay.concatenate %[[A]], %[[B]]
// CHECK-NEXT: func.return %add_1, %getitem
