# output_0: float32[0, 0]
def forward(self):
    eye: "f32[0, 0]" = torch.ops.aten.eye.default(0, dtype = torch.float32, device = device(type='cpu'), pin_memory = False)
    return (eye,)
