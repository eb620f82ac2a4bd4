# arg0_1: bool[5] True True False True False
# output_0: bool[4] False True True True
def forward(self, arg0_1: "b8[5]"):
    slice_1: "b8[4]" = torch.ops.aten.slice.Tensor(arg0_1, 0, 0, 4)
    slice_2: "b8[4]" = torch.ops.aten.slice.Tensor(arg0_1, 0, 1, 5);  arg0_1 = None
    logical_xor: "b8[4]" = torch.ops.aten.logical_xor.default(slice_2, slice_1);  slice_2 = slice_1 = None
    return [logical_xor]
