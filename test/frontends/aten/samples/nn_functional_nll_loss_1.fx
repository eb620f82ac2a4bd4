# given_0: float32[2, 3] -8.478374 -1.7658259 -4.3228045 -2.400456 -7.950587 3.6116052
# given_1: int64[2] 0 0
# output_0: float32[2] 8.478374 2.400456
def forward(self, given_0: "f32[2, 3]", given_1: "i64[2]"):
    nll_loss_nd: "f32[2]" = torch.ops.aten.nll_loss_nd.default(given_0, given_1, None, 0);  given_0 = given_1 = None
    return (nll_loss_nd,)
