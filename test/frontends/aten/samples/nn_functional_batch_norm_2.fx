# arg0_1: float32[0]
# arg1_1: float32[0]
# arg2_1: float32[0]
# output_0: float32[0]
def forward(self, arg0_1: "f32[0]", arg1_1: "f32[0]", arg2_1: "f32[0]"):
    empty: "u8[0]" = torch.ops.aten.empty.memory_format([0], dtype = torch.uint8, layout = torch.strided, device = device(type='cpu'));  empty = None
    empty_1: "f64[0]" = torch.ops.aten.empty.memory_format([0], dtype = torch.float64, layout = torch.strided, device = device(type='cpu'));  empty_1 = None
    empty_2: "f64[0]" = torch.ops.aten.empty.memory_format([0], dtype = torch.float64, layout = torch.strided, device = device(type='cpu'));  empty_2 = None
    clone: "f32[0]" = torch.ops.aten.clone.default(arg0_1);  arg0_1 = None
    return [clone]
