// RUN: opt-tool --input-format=fx %s | filecheck %s
// Squares of ordinary float16 numbers are not finite. One of float32 is added as it is.

def forward(self, h: "f16[4]", s: "f32[4]"):
    a: "f16[]" = torch.ops.aten.linalg_vector_norm.default(h)
    b: "f32[]" = torch.ops.aten.linalg_vector_norm.default(s)
    return (a, b)

// CHECK:      [[W:%.*]] = relay.cast %h {dtype = "float32"}
// CHECK:      relay.multiply [[W]], [[W]]
// CHECK:      relay.sqrt {{%.*}} : tensor<f32>
// CHECK:      relay.cast {{.*}} {dtype = "float16"}
// CHECK-NOT:  relay.cast
// CHECK:      relay.multiply %s, %s
