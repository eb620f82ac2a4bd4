"""The limits of a machine, and how near kernels come to them: tables and a page."""
