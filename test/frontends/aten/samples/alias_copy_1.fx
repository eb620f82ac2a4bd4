# given_0: float32[5] -8.478374 -1.7658259 -4.3228045 -2.400456 -7.950587
# output_0: float32[5] -8.478374 -1.7658259 -4.3228045 -2.400456 -7.950587
def forward(self, given_0: "f32[5]"):
    alias_copy: "f32[5]" = torch.ops.aten.alias_copy.default(given_0);  given_0 = None
    return (alias_copy,)
