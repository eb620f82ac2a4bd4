# output_0: int64[2, 0]
def forward(self):
    tril_indices: "i64[2, 0]" = torch.ops.aten.tril_indices.default(0, 0, device = device(type='cpu'), pin_memory = False)
    return (tril_indices,)
