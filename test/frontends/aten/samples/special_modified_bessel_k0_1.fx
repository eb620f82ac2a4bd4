# given_0: float32[3, 3] 0.24629802 0.24983414 0.3569202 0.5231932 0.11130631 0.8748686 0.004513782 0.6537399 0.03152207
# output_0: float32[3, 3] 1.5554923 1.5421286 1.2151994 0.8871071 2.3216662 0.5051511 5.516585 0.7115273 3.5741343
def forward(self, given_0: "f32[3, 3]"):
    special_modified_bessel_k0: "f32[3, 3]" = torch.ops.aten.special_modified_bessel_k0.default(given_0);  given_0 = None
    return (special_modified_bessel_k0,)
