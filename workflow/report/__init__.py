"""Files of tables, and the page of all studies."""
