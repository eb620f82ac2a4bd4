# given_0: float32[3, 3] 0.30457217 0.29997107 0.87971604 0.78792375 0.14767535 0.8564089 0.36578152 0.5752127 0.51094407
# output_0: float32[3, 3] -3.4473114 -3.502879 -0.7945963 -0.9931051 -7.1290708 -0.8419158 -2.8309336 -1.6339369 -1.91049
def forward(self, given_0: "f32[3, 3]"):
    special_psi: "f32[3, 3]" = torch.ops.aten.special_psi.default(given_0);  given_0 = None
    return (special_psi,)
