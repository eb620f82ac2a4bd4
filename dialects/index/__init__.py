"""Index arithmetic: linear forms, index maps, their proved rules, and what is known of ranges."""
