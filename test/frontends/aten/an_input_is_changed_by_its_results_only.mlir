// RUN: opt-tool --input-format=fx %s | filecheck %s
// The result of a change of an input is a value like any other.

def forward(self, x: "f32[4]"):
    add_: "f32[4]" = torch.ops.aten.add_.Tensor(x, 1)
    return (x,)

// CHECK: %add = relay.add %x
// CHECK: func.return %add
