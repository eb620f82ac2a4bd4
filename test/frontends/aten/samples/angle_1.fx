# given_0: float32[3, 3] 0.3206994 0.3102176 0.8690213 0.33522055 0.16422865 0.49047807 0.20301238 0.31815252 0.6877031
# output_0: float32[3, 3] 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0
def forward(self, given_0: "f32[3, 3]"):
    angle: "f32[3, 3]" = torch.ops.aten.angle.default(given_0);  given_0 = None
    return (angle,)
