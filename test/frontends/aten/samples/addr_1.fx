# given_0: float32[1, 1] nan
# given_1: float32[1] 0.0
# given_2: float32[1] 0.0
# output_0: float32[1, 1] 0.0
def forward(self, given_0: "f32[1, 1]", given_1: "f32[1]", given_2: "f32[1]"):
    addr: "f32[1, 1]" = torch.ops.aten.addr.default(given_0, given_1, given_2, beta = 0.0, alpha = 0.0);  given_0 = given_1 = given_2 = None
    return (addr,)
