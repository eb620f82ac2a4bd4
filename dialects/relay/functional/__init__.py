"""The functional language: data types, references, tuples, annotations, and what the virtual machine runs."""
