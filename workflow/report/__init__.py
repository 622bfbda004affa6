"""Tables, figures and the page: pure functions of one tidy frame."""
