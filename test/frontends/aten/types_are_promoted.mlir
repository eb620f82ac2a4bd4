// RUN: opt-tool --input-format=fx %s | filecheck %s
// Tensors with axes decide, then those of rank 0, then numbers; a function of real numbers makes floats of integers.

def forward(self, i: "i32[4]", h: "f16[4]", d: "f64[]"):
    a: "i32[4]" = torch.ops.aten.add.Tensor(i, 3)
    b: "f32[4]" = torch.ops.aten.mul.Tensor(i, 0.5)
    c: "f16[4]" = torch.ops.aten.add.Tensor(h, d)
    e: "f32[4]" = torch.ops.aten.sigmoid.default(i)
    f: "b8[4]" = torch.ops.aten.lt.Scalar(h, 1)
    g: "f32[4]" = torch.ops.aten.div.Tensor(i, 2)
    return (a, b, c, e, f, g)

// CHECK:      %a = relay.add %i, {{.*}} tensor<i32>) -> tensor<4xi32>
// CHECK:      [[F:%.*]] = relay.cast %i {dtype = "float32"}
// CHECK:      %b = relay.multiply [[F]], {{.*}} -> tensor<4xf32>
// CHECK:      [[D:%.*]] = relay.cast %d {dtype = "float16"}
// CHECK:      %c = relay.add %h, [[D]]
// CHECK:      relay.cast %i {dtype = "float32"}
// CHECK:      %e = relay.sigmoid
// CHECK:      %f = relay.less %h, {{.*}} tensor<f16>) -> tensor<4xi1>
// CHECK:      relay.divide {{.*}} -> tensor<4xf32>
