// RUN: opt-tool --input-format=fx %s --print-debuginfo | filecheck %s
// A graph as torch prints it is a Relay module; what lets a name go is no op, and comments say where calls come from.

class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[2, 3]", w: "f32[4, 3]", b: "f32[4]"):
        # File: src/model.py:42 in forward, code: return self.linear(x)
        linear: "f32[2, 4]" = torch.ops.aten.linear.default(x, w, b);  x = w = b = None
        split = torch.ops.aten.split.Tensor(linear, 2, -1);  linear = None
        getitem: "f32[2, 2]" = split[0];  split = None
        to: "f16[2, 2]" = torch.ops.aten.to.dtype(getitem, torch.float16)
        return (to,)

// CHECK:      func.func @main(%x: tensor<2x3xf32> {lamina.name = "x"} loc(unknown)
// CHECK-SAME:   -> (tensor<2x2xf16> {lamina.name = "output_0"}) {
// CHECK-NEXT:   %0 = relay.nn.dense %x, %w {units = 4} : {{.*}} loc(fused["linear", "model.py":42:0])
// CHECK-NEXT:   %linear = relay.nn.bias_add %0, %b
// CHECK-NEXT:   %getitem, %1 = relay.split %linear {axis = 1, indices_or_sections = [2]}
// CHECK-NEXT:   %to = relay.cast %getitem {dtype = "float16"}
// CHECK-NEXT:   func.return %to
