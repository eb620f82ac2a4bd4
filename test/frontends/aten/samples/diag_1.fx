# given_0: float32[3, 3] 0.11791801 0.6126596 0.6369045 0.6831819 0.03592674 0.7204109 0.8489265 0.62663186 0.27258924
# output_0: float32[3] 0.11791801 0.03592674 0.27258924
def forward(self, given_0: "f32[3, 3]"):
    diag: "f32[3]" = torch.ops.aten.diag.default(given_0);  given_0 = None
    return (diag,)
