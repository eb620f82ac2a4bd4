"""Index arithmetic: linear forms, index maps, their proved rules, and what is known of ranges."""

# Forms are simplified by the rules: whoever has forms has these.
from lamina.dialects.index import matching as matching
