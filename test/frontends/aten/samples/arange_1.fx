# output_0: float32[2] -1.0 1.0
def forward(self):
    arange: "f32[2]" = torch.ops.aten.arange.start_step(-1, 2, 2, dtype = torch.float32, device = device(type='cpu'), pin_memory = False)
    return (arange,)
