# output_0: float32[10] -8.478374 -8.478374 -8.478374 -8.478374 -8.478374 -8.478374 -8.478374 -8.478374 -8.478374 -8.478374
def forward(self):
    full: "f32[10]" = torch.ops.aten.full.default([10], -8.478373527526855, dtype = torch.float32, device = device(type='cpu'), pin_memory = False)
    return (full,)
