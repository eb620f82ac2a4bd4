# given_0: float32[2] -1.884083 -0.39240575
# output_0: float32[1] -0.759546
def forward(self, given_0: "f32[2]"):
    glu: "f32[1]" = torch.ops.aten.glu.default(given_0, 0);  given_0 = None
    return (glu,)
