# arg0_1: float32[5] -8.478374 -1.7658259 -4.3228045 -2.400456 -7.950587
# output_0: float32[5] -1.9429606 -0.40466845 -0.9906427 -0.5501045 -1.8220096
def forward(self, arg0_1: "f32[5]"):
    empty_like: "f32[5]" = torch.ops.aten.empty_like.default(arg0_1, memory_format = torch.contiguous_format)
    rrelu_with_noise: "f32[5]" = torch.ops.aten.rrelu_with_noise.default(arg0_1, empty_like);  arg0_1 = empty_like = None
    return [rrelu_with_noise]
