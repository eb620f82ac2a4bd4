# given_0: float32[3, 3] 0.12711327 0.43822214 0.4051931 0.06638687 0.8698318 0.09477489 0.821338 0.49998498 0.106774874
# output_0: float32[3, 3] 0.12711327 0.43822214 0.4051931 0.06638687 0.8698318 0.09477489 0.821338 0.49998498 0.106774874
def forward(self, given_0: "f32[3, 3]"):
    lift_fresh_copy: "f32[3, 3]" = torch.ops.aten.lift_fresh_copy.default(given_0);  given_0 = None
    return (lift_fresh_copy,)
