# given_0: float32[3, 3] 0.8334365 0.03696411 0.32699287 0.5733003 0.18584168 0.3335614 0.07367411 0.5522778 0.8605851
# output_0: float32[3] 0.8334365 0.18584168 0.8605851
def forward(self, given_0: "f32[3, 3]"):
    linalg_diagonal: "f32[3]" = torch.ops.aten.linalg_diagonal.default(given_0);  given_0 = None
    return (linalg_diagonal,)
