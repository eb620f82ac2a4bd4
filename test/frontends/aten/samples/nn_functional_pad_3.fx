# arg0_1: float32[1, 3] -8.478374 -1.7658259 -4.3228045
# output_0: float32[1, 6] -8.478374 -8.478374 -1.7658259 -4.3228045 -4.3228045 -4.3228045
def forward(self, arg0_1: "f32[1, 3]"):
    replication_pad1d: "f32[1, 6]" = torch.ops.aten.replication_pad1d.default(arg0_1, [1, 2]);  arg0_1 = None
    return [replication_pad1d]
