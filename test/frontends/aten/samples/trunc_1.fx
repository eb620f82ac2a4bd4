# given_0: float32[3, 3] 0.20761707 0.39810273 0.3408298 0.23549205 0.8493339 0.42393386 0.14149468 0.37385622 0.8121062
# output_0: float32[3, 3] 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0
def forward(self, given_0: "f32[3, 3]"):
    trunc: "f32[3, 3]" = torch.ops.aten.trunc.default(given_0);  given_0 = None
    return (trunc,)
