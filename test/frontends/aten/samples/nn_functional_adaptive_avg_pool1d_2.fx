# arg0_1: float32[0, 8, 8]
# output_0: float32[0, 8, 5]
def forward(self, arg0_1: "f32[0, 8, 8]"):
    unsqueeze: "f32[0, 8, 1, 8]" = torch.ops.aten.unsqueeze.default(arg0_1, -2);  arg0_1 = None
    _adaptive_avg_pool2d: "f32[0, 8, 1, 5]" = torch.ops.aten._adaptive_avg_pool2d.default(unsqueeze, [1, 5]);  unsqueeze = None
    squeeze: "f32[0, 8, 5]" = torch.ops.aten.squeeze.dim(_adaptive_avg_pool2d, -2);  _adaptive_avg_pool2d = None
    return [squeeze]
