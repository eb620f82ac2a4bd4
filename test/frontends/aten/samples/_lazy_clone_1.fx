# given_0: float32[3, 3] 0.8929574 0.25769144 0.4139399 0.25294277 0.38788143 0.5478025 0.5101026 0.36500627 7.1722265e-05
# output_0: float32[3, 3] 0.8929574 0.25769144 0.4139399 0.25294277 0.38788143 0.5478025 0.5101026 0.36500627 7.1722265e-05
def forward(self, given_0: "f32[3, 3]"):
    _lazy_clone: "f32[3, 3]" = torch.ops.aten._lazy_clone.default(given_0);  given_0 = None
    return (_lazy_clone,)
