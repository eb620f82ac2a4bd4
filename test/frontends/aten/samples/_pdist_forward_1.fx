# given_0: float32[3, 3] 0.24823442 0.88140696 0.8493033 0.8686528 0.40705958 0.85708493 0.25392628 0.29596266 0.6202046
# output_0: float32[3] 0.78101534 0.62869996 0.66808945
def forward(self, given_0: "f32[3, 3]"):
    _pdist_forward: "f32[3]" = torch.ops.aten._pdist_forward.default(given_0);  given_0 = None
    return (_pdist_forward,)
