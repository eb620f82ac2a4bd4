# given_0: float32[3, 3] 0.65006405 0.8182643 0.06937721 0.7479404 0.60925907 0.35988978 0.57720935 0.26541406 0.7154756
# output_0: bool[3, 3] False False False False False False False False False
def forward(self, given_0: "f32[3, 3]"):
    signbit: "b8[3, 3]" = torch.ops.aten.signbit.default(given_0);  given_0 = None
    return (signbit,)
