# output_0: float32[0]
def forward(self):
    linspace: "f32[0]" = torch.ops.aten.linspace.default(-2.0, -3, 0, dtype = torch.float32, device = device(type='cpu'), pin_memory = False)
    return (linspace,)
