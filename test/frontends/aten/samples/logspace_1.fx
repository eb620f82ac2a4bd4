# output_0: float32[0]
def forward(self):
    logspace: "f32[0]" = torch.ops.aten.logspace.default(0, -3, 0, dtype = torch.float32, device = device(type='cpu'), pin_memory = False)
    return [logspace]
