# given_0: float32[1, 2, 3] -8.478374 -1.7658259 -4.3228045 -2.400456 -7.950587 3.6116052
# output_0: float32[1, 2, 1] -1.7658259 3.6116052
def forward(self, given_0: "f32[1, 2, 3]"):
    max_pool1d: "f32[1, 2, 1]" = torch.ops.aten.max_pool1d.default(given_0, [3], [2], [0], [1], True);  given_0 = None
    return (max_pool1d,)
