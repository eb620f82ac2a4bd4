# given_0: float32[3, 3] 0.14865799 0.035746872 0.86483324 0.058475696 0.06806572 0.43792722 0.46086684 0.37425756 0.14705195
# output_0: float32[3, 3] 0.13251634 0.031690445 1.0564415 0.051869214 0.060395025 0.4099561 0.4342515 0.34487584 0.13106808
def forward(self, given_0: "f32[3, 3]"):
    special_erfinv: "f32[3, 3]" = torch.ops.aten.special_erfinv.default(given_0);  given_0 = None
    return (special_erfinv,)
