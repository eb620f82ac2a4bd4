# output_0: float32[] -5.0
def forward(self):
    scalar_tensor: "f32[]" = torch.ops.aten.scalar_tensor.default(-5, dtype = torch.float32, device = device(type='cpu'), pin_memory = False)
    return (scalar_tensor,)
