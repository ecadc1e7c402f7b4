"""Reports, made from results only: console tables, Markdown, pages and figures."""
