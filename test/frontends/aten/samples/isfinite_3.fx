# arg0_1: int64[20] -8 6 9 0 0 5 5 7 6 5 1 -5 2 -1 8 -4 0 -6 3 -5
# output_0: bool[20] True True True True True True True True True True True True True True True True True True True True
def forward(self, arg0_1: "i64[20]"):
    ones_like: "b8[20]" = torch.ops.aten.ones_like.default(arg0_1, dtype = torch.bool, memory_format = torch.preserve_format);  arg0_1 = None
    return [ones_like]
