# output_0: float32[10] 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0
def forward(self):
    zeros: "f32[10]" = torch.ops.aten.zeros.default([10], dtype = torch.float32, device = device(type='cpu'), pin_memory = False)
    return (zeros,)
