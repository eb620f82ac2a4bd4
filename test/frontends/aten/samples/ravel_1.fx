# given_0: float32[] -8.478374
# output_0: float32[1] -8.478374
def forward(self, given_0: "f32[]"):
    ravel: "f32[1]" = torch.ops.aten.ravel.default(given_0);  given_0 = None
    return (ravel,)
