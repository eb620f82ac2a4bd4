"""What is kept on disk: compiled programs, choice files, files with a digest."""
