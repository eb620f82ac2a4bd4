# given_0: bool[20] True True False True False False False True True True True True False False True False False False False False
# output_0: bool[20] False False True False True True True False False False False False True True False True True True True True
def forward(self, given_0: "b8[20]"):
    bitwise_not: "b8[20]" = torch.ops.aten.bitwise_not.default(given_0);  given_0 = None
    return (bitwise_not,)
