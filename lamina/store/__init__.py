"""Files that are kept on disk: compiled programs, choice files, files with a digest."""
