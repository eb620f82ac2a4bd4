"""The language of rules: terms, patterns, equations and conditions, over ops that know their name and operands."""
