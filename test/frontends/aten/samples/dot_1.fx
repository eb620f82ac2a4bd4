# given_0: float32[5] -8.478374 -1.7658259 -4.3228045 -2.400456 -7.950587
# given_1: float32[5] 3.6116052 -8.067647 -0.57349384 3.1285105 -3.0336847
# output_0: float32[] 2.7143464
def forward(self, given_0: "f32[5]", given_1: "f32[5]"):
    dot: "f32[]" = torch.ops.aten.dot.default(given_0, given_1);  given_0 = given_1 = None
    return (dot,)
