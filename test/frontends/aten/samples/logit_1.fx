# given_0: float32[] 0.028988661
# output_0: float32[] -3.5114334
def forward(self, given_0: "f32[]"):
    logit: "f32[]" = torch.ops.aten.logit.default(given_0);  given_0 = None
    return (logit,)
