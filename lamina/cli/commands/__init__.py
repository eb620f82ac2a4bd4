"""The commands of `lamina`, each in a file with its name: its options, and what it does."""
