# given_0: float32[3, 3] 0.15205969 0.70643806 0.028613001 0.17071712 0.34507632 0.028207557 0.044886284 0.31480384 0.36517158
# output_0: float32[3, 3] 0.15205969 0.70643806 0.028613001 0.17071712 0.34507632 0.028207557 0.044886284 0.31480384 0.36517158
def forward(self, given_0: "f32[3, 3]"):
    conj_physical: "f32[3, 3]" = torch.ops.aten.conj_physical.default(given_0);  given_0 = None
    return (conj_physical,)
