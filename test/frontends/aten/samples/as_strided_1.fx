# given_0: float32[1] -8.478374
# output_0: float32[1] -8.478374
def forward(self, given_0: "f32[1]"):
    as_strided: "f32[1]" = torch.ops.aten.as_strided.default(given_0, [1], [1], 0);  given_0 = None
    return (as_strided,)
