# given_0: float32[] -8.478374
# given_1: float32[] -1.7658259
# output_0: float32[] -1.764611
def forward(self, given_0: "f32[]", given_1: "f32[]"):
    logaddexp: "f32[]" = torch.ops.aten.logaddexp.default(given_0, given_1);  given_0 = given_1 = None
    return (logaddexp,)
