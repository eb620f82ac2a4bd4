# given_0: float32[1, 2] -8.478374 -1.7658259
# output_0: float32[2, 1] -8.478374 -1.7658259
def forward(self, given_0: "f32[1, 2]"):
    t: "f32[2, 1]" = torch.ops.aten.t.default(given_0);  given_0 = None
    return (t,)
