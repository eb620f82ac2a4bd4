# given_0: float32[] -8.478374
# output_0: float32[] -8.478374
def forward(self, given_0: "f32[]"):
    max_1: "f32[]" = torch.ops.aten.max.default(given_0);  given_0 = None
    return (max_1,)
