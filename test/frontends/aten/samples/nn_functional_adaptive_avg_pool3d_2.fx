# arg0_1: float32[0, 8, 8, 8, 8]
# output_0: float32[0, 8, 5, 7, 4]
def forward(self, arg0_1: "f32[0, 8, 8, 8, 8]"):
    _adaptive_avg_pool3d: "f32[0, 8, 5, 7, 4]" = torch.ops.aten._adaptive_avg_pool3d.default(arg0_1, [5, 7, 4]);  arg0_1 = None
    return [_adaptive_avg_pool3d]
