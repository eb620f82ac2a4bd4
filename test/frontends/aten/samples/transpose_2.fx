# given_0: float32[1, 2, 3] -8.478374 -1.7658259 -4.3228045 -2.400456 -7.950587 3.6116052
# output_0: float32[1, 2, 3] -8.478374 -1.7658259 -4.3228045 -2.400456 -7.950587 3.6116052
def forward(self, given_0: "f32[1, 2, 3]"):
    transpose: "f32[1, 2, 3]" = torch.ops.aten.transpose.int(given_0, -1, 2);  given_0 = None
    return (transpose,)
