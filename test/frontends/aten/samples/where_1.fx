# given_0: float32[] -8.478374
# given_1: bool[] True
# given_2: float32[] -4.3228045
# output_0: float32[] -8.478374
def forward(self, given_0: "f32[]", given_1: "b8[]", given_2: "f32[]"):
    where: "f32[]" = torch.ops.aten.where.self(given_1, given_0, given_2);  given_1 = given_0 = given_2 = None
    return (where,)
