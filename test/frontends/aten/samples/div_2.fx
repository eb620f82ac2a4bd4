# given_0: float32[] -8.478374
# given_1: float32[] -1.7658259
# output_0: float32[] 4.0
def forward(self, given_0: "f32[]", given_1: "f32[]"):
    div: "f32[]" = torch.ops.aten.div.Tensor_mode(given_0, given_1, rounding_mode = 'trunc');  given_0 = given_1 = None
    return (div,)
