"""The worst bandwidth for a congestion control, or the best: found, shrunk, saved, drawn."""
