# given_0: float32[3] -8.478374 -1.7658259 -4.3228045
# output_0: float32[] -14.567004
def forward(self, given_0: "f32[3]"):
    einsum: "f32[]" = torch.ops.aten.einsum.default('i->', [given_0]);  given_0 = None
    return (einsum,)
