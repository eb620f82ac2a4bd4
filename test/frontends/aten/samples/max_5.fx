# arg0_1: bool[] True
# arg1_1: bool[] True
# output_0: bool[] True
def forward(self, arg0_1: "b8[]", arg1_1: "b8[]"):
    maximum: "b8[]" = torch.ops.aten.maximum.default(arg0_1, arg1_1);  arg0_1 = arg1_1 = None
    return [maximum]
