// RUN: not opt-tool --input-format=fx %s 2>&1 | filecheck %s
// Two parts of one tensor, of which one is changed while the other is used later.

def forward(self, x: "f32[4, 4]"):
    first: "f32[2, 4]" = torch.ops.aten.slice.Tensor(x, 0, 0, 2)
    second: "f32[4, 2]" = torch.ops.aten.slice.Tensor(x, 1, 0, 2)
    add_: "f32[2, 4]" = torch.ops.aten.add_.Tensor(first, 1)
    return (second,)

// CHECK: aten.add_.Tensor changes first, whose memory second shares; give exported.run_decompositions({})
