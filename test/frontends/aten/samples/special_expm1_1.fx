# given_0: float32[3, 3] 0.08274325 0.18384568 0.87566406 0.16132317 0.8409726 0.4284088 0.83341855 0.29327413 0.14227708
# output_0: float32[3, 3] 0.086262874 0.20183034 1.4004688 0.17506465 1.3186209 0.5348134 1.301172 0.3408103 0.15289605
def forward(self, given_0: "f32[3, 3]"):
    special_expm1: "f32[3, 3]" = torch.ops.aten.special_expm1.default(given_0);  given_0 = None
    return (special_expm1,)
