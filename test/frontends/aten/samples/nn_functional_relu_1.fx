# given_0: float32[] -8.478374
# output_0: float32[] 0.0
def forward(self, given_0: "f32[]"):
    relu: "f32[]" = torch.ops.aten.relu.default(given_0);  given_0 = None
    return (relu,)
