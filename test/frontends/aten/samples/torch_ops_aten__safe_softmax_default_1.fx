# given_0: float32[2, 3, 4] 8.3972 4.319086 -inf -0.43684494 -inf -inf -inf -2.9821851 5.2072277 -3.210485 0.44502783 3.0391326 -inf -inf 8.210626 -inf -inf -inf -inf -inf -inf -inf -inf -inf
# output_0: float32[2, 3, 4] 0.9604552 0.9994634 0.0 0.029933076 0.0 0.0 0.0 0.002348141 0.039544847 0.0005366804 1.0 0.9677187 0.0 0.0 1.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0
def forward(self, given_0: "f32[2, 3, 4]"):
    _safe_softmax: "f32[2, 3, 4]" = torch.ops.aten._safe_softmax.default(given_0, 1);  given_0 = None
    return (_safe_softmax,)
