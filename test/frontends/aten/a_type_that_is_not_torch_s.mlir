// RUN: not opt-tool --input-format=fx %s 2>&1 | filecheck %s
// A result of another type than the graph says is refused.

def forward(self, x: "f32[2, 3]"):
    y: "f32[3, 3]" = torch.ops.aten.relu.default(x)
    return (y,)

// CHECK: aten.relu.default: error: gives float32[2, 3], expected float32[3, 3]
