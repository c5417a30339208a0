"""Makes letters: templates to text, HTML and MIME."""
