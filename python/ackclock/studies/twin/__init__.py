"""Theory beside a run: what closed forms predict for its flows and links, and where they part."""
