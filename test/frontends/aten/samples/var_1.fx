# given_0: float32[5] -8.478374 -1.7658259 -4.3228045 -2.400456 -7.950587
# output_0: float32[1] 9.619952
def forward(self, given_0: "f32[5]"):
    var: "f32[1]" = torch.ops.aten.var.dim(given_0, [0], True, True);  given_0 = None
    return (var,)
