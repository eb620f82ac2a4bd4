# arg0_1: bool[] True
# arg1_1: bool[] True
# output_0: bool[] True
def forward(self, arg0_1: "b8[]", arg1_1: "b8[]"):
    minimum: "b8[]" = torch.ops.aten.minimum.default(arg0_1, arg1_1);  arg0_1 = arg1_1 = None
    return [minimum]
