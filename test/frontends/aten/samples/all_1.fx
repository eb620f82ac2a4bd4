# given_0: float32[] -8.478374
# output_0: bool[] True
def forward(self, given_0: "f32[]"):
    all_1: "b8[]" = torch.ops.aten.all.default(given_0);  given_0 = None
    return (all_1,)
