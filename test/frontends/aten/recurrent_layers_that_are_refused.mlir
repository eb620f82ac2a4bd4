// RUN: not opt-tool --input-format=fx %s 2>&1 | filecheck %s
// All of it is told at once.

def forward(self, x: "f32[3, 2, 5]", h: "f32[1, 2, 4]", h2: "f32[2, 2, 4]", w: "f32[4, 5]", r: "f32[4, 4]", n: "i64[3]", d: "f32[6, 5]"):
    # File: net.py:3 in forward, code: self.rnn(packed)
    packed = torch.ops.aten.rnn_tanh.data(d, n, h, [w, r], False, 1, 0.0, False, False)
    # File: net.py:4 in forward, code: self.rnn(x)
    dropped = torch.ops.aten.rnn_relu.input(x, h2, [w, r, r, r], False, 2, 0.5, True, False, False)
    # File: net.py:5 in forward, code: self.lstm(x)
    projected = torch.ops.aten.lstm.input(x, [h, h], [w, r, r], False, 1, 0.0, False, False, False)
    # File: net.py:6 in forward, code: mine(x)
    op: "f32[4]" = torch.ops.mine.op.default(x)
    return (op,)

// CHECK-DAG: aten.rnn_tanh.data x1: "net.py:3" (packed sequences are not supported)
// CHECK-DAG: aten.rnn_relu.input x1: "net.py:4" (dropout between recurrent layers is not supported)
// CHECK-DAG: aten.lstm.input x1: "net.py:5" (3 weights of 1 layers are not supported)
