# given_0: float32[] -8.478374
# output_0: float32[] -4.3228045
def forward(self, given_0: "f32[]"):
    threshold: "f32[]" = torch.ops.aten.threshold.default(given_0, -1.765825867652893, -4.3228044509887695);  given_0 = None
    return (threshold,)
