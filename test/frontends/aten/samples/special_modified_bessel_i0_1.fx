# given_0: float32[3, 3] 0.4853676 0.09551115 0.1518414 0.80664456 0.4185226 0.3200788 0.0921084 0.63395727 0.7335221
# output_0: float32[3, 3] 1.0597683 1.0022817 1.0057722 1.1694051 1.0442721 1.0257772 1.002122 1.1030276 1.1391053
def forward(self, given_0: "f32[3, 3]"):
    special_modified_bessel_i0: "f32[3, 3]" = torch.ops.aten.special_modified_bessel_i0.default(given_0);  given_0 = None
    return (special_modified_bessel_i0,)
