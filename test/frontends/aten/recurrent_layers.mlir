// RUN: opt-tool --input-format=fx %s | filecheck %s
// A layer of torch's in both directions: its gates i f g o stand as i o f g, and each direction is one op.

def forward(self, x: "f32[3, 2, 5]", h: "f32[2, 2, 4]", c: "f32[2, 2, 4]", w: "f32[16, 5]", r: "f32[16, 4]", a: "f32[16]", b: "f32[16]"):
    lstm = torch.ops.aten.lstm.input(x, [h, c], [w, r, a, b, w, r, a, b], True, 1, 0.0, False, True, False)
    getitem: "f32[3, 2, 8]" = lstm[0]
    getitem_1: "f32[2, 2, 4]" = lstm[1]
    getitem_2: "f32[2, 2, 4]" = lstm[2];  lstm = None
    return (getitem, getitem_1, getitem_2)

// CHECK:      %[[I:.*]] = relay.strided_slice %w {axes = [0], begin = [0], end = [4], strides = [1]}
// CHECK-NEXT: %[[O:.*]] = relay.strided_slice %w {axes = [0], begin = [12], end = [16], strides = [1]}
// CHECK-NEXT: %[[F:.*]] = relay.strided_slice %w {axes = [0], begin = [4], end = [8], strides = [1]}
// CHECK-NEXT: %[[G:.*]] = relay.strided_slice %w {axes = [0], begin = [8], end = [12], strides = [1]}
// CHECK-NEXT: relay.concatenate %[[I]], %[[O]], %[[F]], %[[G]]
// CHECK:      %[[Y:.*]], %{{.*}}, %{{.*}} = relay.nn.lstm
// CHECK:      %[[Z:.*]], %{{.*}}, %{{.*}} = relay.nn.lstm {{.*}}reverse = true
// CHECK:      %getitem = relay.concatenate %[[Y]], %[[Z]] {axis = 2}
