"""Programs that torch.export.save writes, read without torch."""
