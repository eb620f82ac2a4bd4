# given_0: float32[] 0.26081318
# given_1: float32[] 3.6170871
# output_0: float64[] 0.007741284932288353
def forward(self, given_0: "f32[]", given_1: "f32[]"):
    float_power: "f64[]" = torch.ops.aten.float_power.Tensor_Tensor(given_0, given_1);  given_0 = given_1 = None
    return (float_power,)
