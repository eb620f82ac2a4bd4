# given_0: float32[3, 3] 0.53155476 0.689926 0.74588037 0.5783495 0.5402029 0.75927085 0.15725534 0.13609089 0.43782678
# output_0: float32[3, 3] 0.12638706 0.79977345 1.07676 0.31600142 0.16115955 1.148686 -1.6787932 -1.8481447 -0.24998668
def forward(self, given_0: "f32[3, 3]"):
    special_logit: "f32[3, 3]" = torch.ops.aten.special_logit.default(given_0);  given_0 = None
    return (special_logit,)
