# given_0: float32[5] -8.478374 -1.7658259 -4.3228045 -2.400456 -7.950587
# output_0: float32[5] 0.6214675 0.00075543293 0.009742663 0.0014249916 0.36660933
def forward(self, given_0: "f32[5]"):
    neg: "f32[5]" = torch.ops.aten.neg.default(given_0);  given_0 = None
    softmax: "f32[5]" = torch.ops.aten.softmax.int(neg, 0);  neg = None
    return (softmax,)
