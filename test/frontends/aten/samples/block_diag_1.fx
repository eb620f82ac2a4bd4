# given_0: float32[1] -8.478374
# given_1: float32[2] -1.7658259 -4.3228045
# given_2: float32[3] -2.400456 -7.950587 3.6116052
# output_0: float32[3, 6] -8.478374 0.0 0.0 0.0 0.0 0.0 0.0 -1.7658259 -4.3228045 0.0 0.0 0.0 0.0 0.0 0.0 -2.400456 -7.950587 3.6116052
def forward(self, given_0: "f32[1]", given_1: "f32[2]", given_2: "f32[3]"):
    block_diag: "f32[3, 6]" = torch.ops.aten.block_diag.default([given_0, given_1, given_2]);  given_0 = given_1 = given_2 = None
    return (block_diag,)
