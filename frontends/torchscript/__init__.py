"""Files of TorchScript (`torch.jit.trace(...).save(...)`), read without torch."""
