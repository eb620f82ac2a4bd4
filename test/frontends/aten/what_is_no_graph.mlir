// RUN: not opt-tool --input-format=fx %s 2>&1 | filecheck %s
// The text is read, never run.

def forward(self, x: "f32[2]"):
    y: "f32[2]" = torch.ops.aten.relu.default(x)
    import os
    return (y,)

// CHECK: what_is_no_graph.mlir:6: error: is neither a call of an operator nor a return
