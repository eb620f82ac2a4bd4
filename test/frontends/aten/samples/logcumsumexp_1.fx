# given_0: float32[] -8.478374
# output_0: float32[] -8.478374
def forward(self, given_0: "f32[]"):
    logcumsumexp: "f32[]" = torch.ops.aten.logcumsumexp.default(given_0, 0);  given_0 = None
    return (logcumsumexp,)
