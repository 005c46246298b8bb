"""Writes dossiers and comparisons: text, Markdown, HTML, JUnit."""
