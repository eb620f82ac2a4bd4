// RUN: not opt-tool --input-format=fx %s 2>&1 | filecheck %s
// All of them are told at once, with the places of their calls.

def forward(self, x: "f32[4]"):
    # File: net.py:7 in forward, code: torch.bernoulli(x)
    a: "f32[4]" = torch.ops.aten.bernoulli.default(x)
    b: "f32[4]" = torch.ops.aten.relu.default(a)
    # File: net.py:9 in forward, code: mine(b)
    c: "f32[4]" = torch.ops.mine.op.default(b)
    return (c,)

// CHECK: 2 operators are not supported: aten.bernoulli.default x1: "net.py:7" (draws random numbers); mine.op.default x1: "net.py:9" (no converter)
