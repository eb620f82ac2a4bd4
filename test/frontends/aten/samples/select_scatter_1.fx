# given_0: float32[5] -8.478374 -1.7658259 -4.3228045 -2.400456 -7.950587
# given_1: float32[] 3.6116052
# output_0: float32[5] -8.478374 -1.7658259 3.6116052 -2.400456 -7.950587
def forward(self, given_0: "f32[5]", given_1: "f32[]"):
    select_scatter: "f32[5]" = torch.ops.aten.select_scatter.default(given_0, given_1, 0, 2);  given_0 = given_1 = None
    return (select_scatter,)
