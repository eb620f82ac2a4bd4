"""Other projects' module layouts over Lamina's own objects, so that programs run with only their imports changed."""
