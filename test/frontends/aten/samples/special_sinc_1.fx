# given_0: float32[3, 3] 0.8737462 0.29998496 0.14306307 0.77981013 0.64068484 0.66015637 0.6044621 0.8174807 0.80279493
# output_0: float32[3, 3] 0.14073797 0.85840726 0.96667147 0.260377 0.44908682 0.42241767 0.4984963 0.21123524 0.23023255
def forward(self, given_0: "f32[3, 3]"):
    special_sinc: "f32[3, 3]" = torch.ops.aten.special_sinc.default(given_0);  given_0 = None
    return (special_sinc,)
